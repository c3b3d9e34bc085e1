import type { Target } from "../../api/staff-api.d.ts";
import { Badge } from "../../components/display.tsx";
import type { Tone } from "../../components/states.tsx";
import { texts } from "../../texts/index.ts";

export const TONES: Readonly<Record<Target["state"], Tone>> = {
  gone: "danger",
  set_aside: "danger",
  failing: "danger",
  paused: "warning",
  behind: "warning",
  up_to_date: "success",
};

export function StateBadge({ target: { state } }: { target: Target }) {
  return <Badge tone={TONES[state]}>{texts.targets.states[state]}</Badge>;
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
