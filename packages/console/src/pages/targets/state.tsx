import type { Target } from "../../api/staff-api.d.ts";
import { Badge } from "../../components/display.tsx";
import type { Tone } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

type TargetState = keyof typeof texts.targets.states;

const TONES: Readonly<Record<TargetState, Tone>> = {
  gone: "danger",
  setAside: "danger",
  failing: "warning",
  paused: "warning",
  behind: "info",
  upToDate: "success",
};

/** The worst state of a target. */
export function stateOf({ paused, gone, setAside, failing, behind }: Target): TargetState {
  if (paused) return gone ? "gone" : "paused";
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

/** The secret of a webhook, for the dialog that shows it only once. */
export function secretOf(name: string, value: string) {
  return {
    title: texts.targets.secretTitle(name),
    description: texts.targets.secretLead,
    label: texts.targets.secret,
    value,
  };
}

/** The kind; for RADIUS with the service. */
export function kindOf({ kind, service }: Target): string {
  const name = texts.targets.kinds[kind];
  return service === null ? name : `${name}, ${texts.common.services[service]}`;
}
