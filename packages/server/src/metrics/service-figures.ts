import type { ProcessCount, ServiceFigures } from "../system/service-state.ts";
import type { Family } from "./exposition.ts";

/** Length of the measured time. */
const WINDOW_MS = 5 * 60_000;
/** Outcomes of calls that were not refused. */
const SERVED = ["success", "replayed"];

interface Snapshot {
  /** Milliseconds on a monotonic clock. */
  readonly at: number;
  readonly families: readonly Family[];
  readonly restarts: number;
}

/** Keeps the counters of the last minutes, and subtracts them. */
export class FigureWindow {
  readonly #kept: Snapshot[];

  /** @param at milliseconds on a monotonic clock, when all counters are 0. */
  constructor(at: number) {
    this.#kept = [{ at, families: [], restarts: 0 }];
  }

  /** @param families counters of the whole service as of now. */
  add(at: number, families: readonly Family[], processes: readonly ProcessCount[]): ServiceFigures {
    const restarts = sumOf(processes.map((each) => each.restarts));
    this.#kept.push({ at, families, restarts });
    while (this.#kept.length > 2 && (this.#kept[0] as Snapshot).at < at - WINDOW_MS) this.#kept.shift();
    const first = this.#kept[0] as Snapshot;
    const increase = (name: string) => increaseOf(name, first.families, families);
    const minutes = (at - first.at) / 60_000;
    const aMinute = (count: number) => Number((count / minutes).toFixed(1));
    const topUps = sumOf(increase("topupd_top_ups_total").map(({ value }) => value));
    const answers = answersOf(increase("topupd_request_duration_seconds"));
    const outcomes = sumBy(increase("topupd_requests_total"), ({ labels }) => labels["outcome"] ?? "");
    const refusals = [...outcomes]
      .filter(([reason, count]) => count > 0 && !SERVED.includes(reason))
      .map(([reason, count]) => ({ reason, count }))
      .sort((a, b) => b.count - a.count);
    return {
      minutes: Math.max(Math.round(minutes), 1),
      topUpsAMinute: aMinute(topUps),
      callsAMinute: aMinute(sumOf(answers.map(({ count }) => count))),
      refused: sumOf(refusals.map(({ count }) => count)),
      answers,
      refusals,
      processes,
      restarts: restarts - first.restarts,
      allRestarts: restarts,
    };
  }
}

interface Increase {
  readonly suffix: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function increaseOf(name: string, before: readonly Family[], after: readonly Family[]): Increase[] {
  const samplesOf = (families: readonly Family[]) => families.find((family) => family.name === name)?.samples ?? [];
  const keyOf = ({ suffix, labels }: Pick<Increase, "labels"> & { readonly suffix?: string }) =>
    JSON.stringify([suffix, labels]);
  const was = new Map(samplesOf(before).map((sample) => [keyOf(sample), Number(sample.value)]));
  return samplesOf(after).map((sample) => {
    const { suffix = "", labels, value } = sample;
    return { suffix, labels, value: Number(value) - (was.get(keyOf(sample)) ?? 0) };
  });
}

function answersOf(durations: readonly Increase[]): ServiceFigures["answers"] {
  const buckets = durations.filter(({ suffix }) => suffix === "_bucket");
  const operations = [...new Set(buckets.map(({ labels }) => labels["operation"] ?? ""))];
  return operations.flatMap((operation) => {
    const own = buckets
      .filter(({ labels }) => labels["operation"] === operation)
      .map(({ labels, value }) => ({ bound: labels["le"] === "+Inf" ? Infinity : Number(labels["le"]), count: value }));
    const count = own.at(-1)?.count ?? 0;
    if (count === 0) return [];
    return [{ operation, count, p50: quantile(own, count * 0.5), p99: quantile(own, count * 0.99) }];
  });
}

/** Estimates a quantile as Prometheus does: values are spread evenly in their bucket. @param buckets cumulative, rising. */
function quantile(buckets: readonly { readonly bound: number; readonly count: number }[], rank: number): number {
  const index = buckets.findIndex(({ count }) => count >= rank);
  const [lower, upper] = [buckets[index - 1], buckets[index]];
  const from = lower?.bound ?? 0;
  if (upper === undefined || upper.bound === Infinity) return from;
  const below = lower?.count ?? 0;
  return from + ((upper.bound - from) * (rank - below)) / (upper.count - below);
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function sumBy(parts: readonly Increase[], keyOf: (part: Increase) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const part of parts) sums.set(keyOf(part), (sums.get(keyOf(part)) ?? 0) + part.value);
  return sums;
}
