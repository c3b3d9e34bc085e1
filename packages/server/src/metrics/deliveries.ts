import { DELIVERY_OUTCOMES, type DeliveryObserver, type TargetFigures } from "../workers/target-delivery.ts";
import type { Family } from "./exposition.ts";

export interface DeliveryCounts extends DeliveryObserver {
  readonly collect: () => Family[];
}

/** Counts what this process delivers, and tells how far the targets are whose leases it holds: of each, one process does. */
export function countDeliveries(): DeliveryCounts {
  const attempts = new Map<string, Record<(typeof DELIVERY_OUTCOMES)[number], number>>();
  const observed = new Map<string, TargetFigures>();
  const attemptsOf = (target: string) => {
    const counted = attempts.get(target) ?? { delivered: 0, failed: 0 };
    attempts.set(target, counted);
    return counted;
  };
  const gauge = (name: string, description: string, measure: (figures: TargetFigures) => number): Family => ({
    ...{ name, type: "gauge", description },
    samples: [...observed].map(([target, figures]) => ({ labels: { target }, value: measure(figures) })),
  });
  return {
    deliveryEnded: (target, outcome) => {
      attemptsOf(target)[outcome] += 1;
    },
    targetObserved: (target, figures) => {
      if (figures === undefined) observed.delete(target);
      else observed.set(target, figures);
      // So that the first attempt is seen as a rise.
      attemptsOf(target);
    },
    collect: () => [
      {
        name: "topupd_deliveries_total",
        type: "counter",
        description: "Attempts to deliver an event to a target, by what came of them.",
        samples: [...attempts].flatMap(([target, counted]) =>
          DELIVERY_OUTCOMES.map((outcome) => ({ labels: { target, outcome }, value: counted[outcome] })),
        ),
      },
      gauge(
        "topupd_delivery_lag_seconds",
        "Age of the oldest event that a target lacks and is still tried with; 0 where it has all.",
        ({ lagMs }) => lagMs / 1000,
      ),
      gauge(
        "topupd_deliveries_waiting",
        "Events that a target did not take and that are tried again, and those that wait behind them.",
        ({ waiting }) => waiting,
      ),
      gauge(
        "topupd_deliveries_set_aside",
        "Events that a target did not take for three days and that are tried no more.",
        ({ setAside }) => setAside,
      ),
    ],
  };
}
