import { median, type Round, ratio } from "./rounds.ts";

/** Baseline of most measurements. */
export const BARE_SERVER = "bare node:http";

/** topupd beside something else that was measured in the same rounds. */
export interface Comparison {
  readonly measured: string;
  readonly baseline: string;
  readonly target: {
    /** How many times the baseline's CPU time a request may take. */
    readonly cpuAtMost?: number;
    /** How much of the baseline's throughput is to be left. */
    readonly throughputAtLeast: number;
  };
  readonly ours: readonly Round[];
  readonly theirs: readonly Round[];
}

/** A single number. */
export interface Figure {
  readonly measured: string;
  readonly value: number;
  readonly unit: string;
  readonly decimals: number;
  /** Undefined if there is none. */
  readonly target: { readonly atLeast: number } | { readonly atMost: number } | undefined;
  /** Source of the value. */
  readonly detail: string;
}

export interface Results {
  readonly comparisons: readonly Comparison[];
  readonly figures: readonly Figure[];
}

/** The medians of one contestant's rounds; NaN where the machine does not tell. */
export interface Summary {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuMicroseconds: number;
  readonly databaseMicroseconds: number;
  readonly memoryMiB: number;
}

export function summary(rounds: readonly Round[]): Summary {
  const of = (name: keyof Summary) => median(rounds.map((round) => round[name]));
  return {
    perSecond: of("perSecond"),
    p50: of("p50"),
    p99: of("p99"),
    cpuMicroseconds: of("cpuMicroseconds"),
    databaseMicroseconds: of("databaseMicroseconds"),
    memoryMiB: of("memoryMiB"),
  };
}

/** Throughput beside the baseline's. */
export function throughputRatio({ ours, theirs }: Comparison): number {
  return ratio(ours, theirs, ({ perSecond }) => perSecond);
}

/** CPU time for each request beside the baseline's: the steadiest figure of a run. */
export function cpuRatio({ ours, theirs }: Comparison): number {
  return ratio(ours, theirs, ({ cpuMicroseconds }) => cpuMicroseconds ?? Number.NaN);
}

export function isReached(result: Comparison | Figure): boolean | undefined {
  const { target } = result;
  if (target === undefined) return undefined;
  if ("throughputAtLeast" in target) {
    const { cpuAtMost = Number.POSITIVE_INFINITY, throughputAtLeast } = target;
    return cpuRatio(result as Comparison) <= cpuAtMost && throughputRatio(result as Comparison) >= throughputAtLeast;
  }
  const { value } = result as Figure;
  return "atLeast" in target ? value >= target.atLeast : value <= target.atMost;
}

/** Prints progress on stderr. Only results go to stdout. */
export function say(what: string): void {
  process.stderr.write(`${what} ...\n`);
}
