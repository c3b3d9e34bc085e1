import type { RunFacts, VersionFacts } from "../facts.ts";

/** The result of a check. `came` never contains a value that may be personal. */
export type Verdict =
  | { readonly outcome: "holds" }
  /** `noted`: not forbidden, but deserves a look. */
  | { readonly outcome: "fails" | "noted"; readonly expected: string; readonly came: string }
  | { readonly outcome: "skipped"; readonly reason: string };

export const HOLDS: Verdict = { outcome: "holds" };

export function fails(expected: string, came: string): Verdict {
  return { outcome: "fails", expected, came };
}

export function noted(expected: string, came: string): Verdict {
  return { outcome: "noted", expected, came };
}

export function skipped(reason: string): Verdict {
  return { outcome: "skipped", reason };
}

/** Judges each item. The first failure counts; without items the check is skipped. */
export function every<Item>(items: readonly Item[], none: string, judge: (item: Item) => Verdict): Verdict {
  const verdicts = items.map(judge);
  return (
    verdicts.find(({ outcome }) => outcome === "fails") ??
    verdicts.find(({ outcome }) => outcome === "holds") ??
    verdicts[0] ??
    skipped(none)
  );
}

/** Returns the first verdict that is not `holds`. */
export function both(...verdicts: readonly (() => Verdict)[]): Verdict {
  for (const judge of verdicts) {
    const verdict = judge();
    if (verdict.outcome !== "holds") return verdict;
  }
  return HOLDS;
}

/**
 * `must`: the interface says so. `money`: the interface does not forbid it, but it costs money, so it is noted. `topupd`: a
 * decision of topupd on a point that the interface leaves open.
 */
export type Level = "must" | "money" | "topupd";

interface CheckBase {
  /** A unique id in kebab-case, never reused. */
  readonly id: string;
  readonly sentence: string;
  readonly level: Level;
  /** The section of the interface, or the heading of docs/decisions.md. */
  readonly source: string;
  /** Whether a run fails if this could not be judged. */
  readonly isEssential: boolean;
  /** Whether it judges a top-up. */
  readonly needsTopUp: boolean;
}

/** Judges one version. */
export interface VersionCheck extends CheckBase {
  readonly judge: (facts: VersionFacts) => Verdict;
}

/** Judges the versions side by side. */
export interface RunCheck extends CheckBase {
  readonly judgeAll: (facts: RunFacts) => Verdict;
}

export type Check = VersionCheck | RunCheck;

type Traits = { readonly isEssential?: boolean; readonly needsTopUp?: boolean };

/** Declares checks of one level. `source` is a section such as `§7 Errors`, or for topupd a heading of docs/decisions.md. */
function checksOf(level: Level) {
  return (
    id: string,
    source: string,
    sentence: string,
    judge: VersionCheck["judge"],
    { isEssential = false, needsTopUp = false }: Traits = {},
  ): VersionCheck => ({ id, sentence, level, source, isEssential, needsTopUp, judge });
}

function checksOfRunsOf(level: Level) {
  return (
    id: string,
    source: string,
    sentence: string,
    judgeAll: RunCheck["judgeAll"],
    { isEssential = false, needsTopUp = false }: Traits = {},
  ): RunCheck => ({ id, sentence, level, source, isEssential, needsTopUp, judgeAll });
}

export const must = checksOf("must");
export const mustForAll = checksOfRunsOf("must");
export const money = checksOf("money");
export const decided = checksOf("topupd");
export const decidedForAll = checksOfRunsOf("topupd");
