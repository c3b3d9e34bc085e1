import type { Plan } from "../../api/staff-api.d.ts";
import { ThinBar } from "../../components/charts.tsx";
import { Badge } from "../../components/display.tsx";
import { texts } from "../../texts/index.ts";
import { whenWords } from "./ledger-words.ts";

const t = texts.customers;

export const STATE_TONES = {
  running: "success",
  waiting: "info",
  ended: "danger",
  reversed: "danger",
  blocked: "danger",
  no_subscription: "neutral",
} as const;

/** A plan with so few days left is shown as a warning. */
const SOON_DAYS = 3;
/** The days that fill the bar. */
const FULL_DAYS = 60;

type ShownPlan = Pick<Plan, "state" | "run">;

export function toneOf({ state, run }: ShownPlan) {
  return state === "running" && run !== null && run.daysLeft <= SOON_DAYS ? "warning" : STATE_TONES[state];
}

/** State of a plan, its end in words, and the days left as a thin bar. */
export function PlanState({ plan }: { plan: ShownPlan }) {
  const { state, run } = plan;
  const tone = toneOf(plan);
  return (
    <>
      <Badge tone={tone}>{t.planStates[state]}</Badge>
      <span className="plan-end">{run !== null && whenWords(plan, run)}</span>
      <ThinBar tone={tone} value={run !== null && state === "running" ? run.daysLeft : undefined} full={FULL_DAYS} />
    </>
  );
}
