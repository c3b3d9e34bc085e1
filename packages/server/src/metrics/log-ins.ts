import type { FailedLogIn } from "../services/staff/log-in.ts";
import type { Family } from "./exposition.ts";

export interface LogInCounts {
  readonly countFailedLogIn: (outcome: FailedLogIn["outcome"]) => void;
  readonly collect: () => Family[];
}

/** Counts log-ins to the console that failed. Both outcomes are there from the start, so that the first is seen as a rise. */
export function countLogIns(): LogInCounts {
  const counts: Record<FailedLogIn["outcome"], number> = { wrong_credentials: 0, too_many_attempts: 0 };
  return {
    countFailedLogIn: (outcome) => {
      counts[outcome] += 1;
    },
    collect: () => [
      {
        name: "topupd_failed_log_ins_total",
        type: "counter",
        description: "Log-ins to the console that failed, by the reason.",
        samples: Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
    ],
  };
}
