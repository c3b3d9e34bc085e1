import type { Observer, ServedOperation } from "../services/partner/observer.ts";
import { type Family, Histogram, type Labels } from "./exposition.ts";

/** In seconds: from a look-up in memory to the longest that a proxy waits. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Outcomes that are no fault of a request, admitted or not. */
const OURS = ["unavailable", "internal_error", "gave_up"];

const NO_OPERATION: ServedOperation = { name: "", version: "" };

export interface RequestCounts extends Pick<Observer, "requestAnswered"> {
  readonly collect: () => Family[];
}

export function countRequests(): RequestCounts {
  const counts = new Map<string, { readonly labels: Labels; value: number }>();
  const durations = new Histogram({
    name: "topupd_request_duration_seconds",
    description:
      "Time from the arrival of an admitted request to an operation until its answer was written, or its caller left.",
    bounds: DURATION_BUCKETS,
    label: "operation",
  });
  return {
    requestAnswered: ({ name, version } = NO_OPERATION, caller, outcome, seconds) => {
      const key = `${name} ${version} ${caller?.partnerId} ${caller?.environment} ${outcome}`;
      const { partnerName: partner = "", environment = "" } = caller ?? {};
      const count = counts.get(key) ?? {
        labels: { operation: name, version, partner, environment, outcome },
        value: 0,
      };
      if (count.value === 0) counts.set(key, count);
      count.value += 1;
      // Who was turned away at the door was quick: many of them would hide how slow the others are.
      if (name !== "" && (caller !== undefined || OURS.includes(outcome))) durations.record(seconds, name);
    },
    collect: () => [
      {
        name: "topupd_requests_total",
        type: "counter",
        description:
          "Requests to operations, and requests that failed because they were to none, by what came of them.",
        samples: [...counts.values()],
      },
      durations.collect(),
    ],
  };
}
