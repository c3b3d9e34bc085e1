import { median, type Round, ratio } from "./rounds.ts";

/** topupd beside something else that was measured in the same rounds. */
export interface Comparison {
  readonly measured: string;
  readonly baseline: string;
  /** The least that the ratio of requests a second is to be. */
  readonly target: number;
  readonly ours: readonly Round[];
  readonly theirs: readonly Round[];
}

/** A single number. */
export interface Figure {
  readonly measured: string;
  readonly value: number;
  readonly unit: string;
  readonly decimals: number;
  /** Undefined where there is none. */
  readonly target: { readonly atLeast: number } | { readonly atMost: number } | undefined;
  /** Where it comes from. */
  readonly detail: string;
}

/** What could not be measured here. */
export interface Skipped {
  readonly measured: string;
  readonly why: string;
}

export interface Results {
  readonly comparisons: readonly Comparison[];
  readonly figures: readonly Figure[];
  readonly skipped: readonly Skipped[];
}

export const NO_RESULTS: Results = { comparisons: [], figures: [], skipped: [] };

export function joinResults(...all: readonly Results[]): Results {
  return {
    comparisons: all.flatMap(({ comparisons }) => comparisons),
    figures: all.flatMap(({ figures }) => figures),
    skipped: all.flatMap(({ skipped }) => skipped),
  };
}

/** The medians of one contestant's rounds; NaN where the machine does not tell. */
export interface Summary {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuMicroseconds: number;
  readonly memoryMiB: number;
}

export function summary(rounds: readonly Round[]): Summary {
  const of = (name: keyof Summary) => median(rounds.map((round) => round[name]));
  return {
    perSecond: of("perSecond"),
    p50: of("p50"),
    p99: of("p99"),
    cpuMicroseconds: of("cpuMicroseconds"),
    memoryMiB: of("memoryMiB"),
  };
}

export function ratioOf({ ours, theirs }: Comparison): number {
  return ratio(ours, theirs);
}

export function isReached(result: Comparison | Figure): boolean | undefined {
  if ("ours" in result) return ratioOf(result) >= result.target;
  const { target, value } = result;
  if (target === undefined) return undefined;
  return "atLeast" in target ? value >= target.atLeast : value <= target.atMost;
}
