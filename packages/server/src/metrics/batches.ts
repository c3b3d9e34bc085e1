import type { ObserveBatch } from "../store/store.ts";
import { type Family, single } from "./exposition.ts";
import { createHistogram } from "./histogram.ts";

/** Up to the largest batch. */
const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** In seconds: from a quick disk to the deadline after which nothing is recorded any more. */
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface BatchCounts {
  readonly observeBatch: ObserveBatch;
  readonly collect: () => Family[];
}

/** @param elapsed seconds since any fixed moment, on a clock that nobody sets. */
export function countBatches(elapsed: () => number): BatchCounts {
  const sizes = createHistogram({
    name: "topupd_batch_size",
    description: "How many requests shared a transaction that was committed: top-ups, repeats and refusals alike.",
    bounds: SIZE_BUCKETS,
  });
  const commits = createHistogram({
    name: "topupd_commit_duration_seconds",
    description:
      "Time from the beginning of a batch's transaction until it was durable or had failed, waits for others included.",
    bounds: COMMIT_BUCKETS,
  });
  const [size, commit] = [sizes.series(), commits.series()];
  let failed = 0;
  return {
    observeBatch: (items) => {
      const began = elapsed();
      return (committed) => {
        // A batch that fails has often waited longest.
        commit.record(elapsed() - began);
        if (committed) size.record(items);
        else failed += 1;
      };
    },
    collect: () => [
      sizes.collect(),
      commits.collect(),
      single(
        "counter",
        "topupd_failed_batches_total",
        "Transactions of batches that ended without a known commit.",
        failed,
      ),
    ],
  };
}
