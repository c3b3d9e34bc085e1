import type { Target } from "../../api/staff-api.d.ts";
import { Badge } from "../../components/display.tsx";
import type { Tone } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

type TargetState = keyof typeof texts.targets.states;

const TONES: Readonly<Record<TargetState, Tone>> = {
  setAside: "danger",
  failing: "warning",
  paused: "warning",
  behind: "info",
  upToDate: "success",
};

/** Badge with a target's worst state. */
export function stateOf({ paused, setAside, failing, behind }: Target): TargetState {
  if (paused) return "paused";
  if (setAside > 0) return "setAside";
  if (failing > 0) return "failing";
  return behind > 0 ? "behind" : "upToDate";
}

export function toneOf(target: Target): Tone {
  return TONES[stateOf(target)];
}

export function StateBadge({ target }: { target: Target }) {
  return <Badge tone={toneOf(target)}>{texts.targets.states[stateOf(target)]}</Badge>;
}

/** RADIUS with its service. */
export function kindOf({ kind, service }: Target): string {
  const name = texts.targets.kinds[kind];
  return service === null ? name : `${name}, ${texts.common.services[service]}`;
}
