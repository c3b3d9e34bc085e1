import type { RunFacts, VersionFacts } from "../facts.ts";
import type { Verdict } from "../verdict.ts";

/**
 * `must`: the interface says so. `money`: it does not show that this is refused, but to take it costs somebody money, so
 * it is noted. `topupd`: one of topupd's decisions, where the interface is silent.
 */
export type Level = "must" | "money" | "topupd";

interface CheckBase {
  /** In kebab-case, and never used again for another demand. */
  readonly id: string;
  /** What must hold. */
  readonly sentence: string;
  readonly level: Level;
  /** The section of the interface, or the heading of docs/decisions.md. */
  readonly source: string;
  /** Whether a run that could not judge it has not shown enough. */
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

/** A demand of the interface. @param section such as `§7 Errors`. */
export function must(
  id: string,
  section: string,
  sentence: string,
  judge: VersionCheck["judge"],
  { isEssential = false, needsTopUp = false }: Traits = {},
): VersionCheck {
  return { id, sentence, level: "must", source: section, isEssential, needsTopUp, judge };
}

/** A demand of the interface on both versions together. @param section such as `§7 Errors`. */
export function mustForAll(
  id: string,
  section: string,
  sentence: string,
  judgeAll: RunCheck["judgeAll"],
  { isEssential = false, needsTopUp = false }: Traits = {},
): RunCheck {
  return { id, sentence, level: "must", source: section, isEssential, needsTopUp, judgeAll };
}

/** What a service had better not take, whatever its profile. @param section such as `§7 Errors`. */
export function money(id: string, section: string, sentence: string, judge: VersionCheck["judge"]): VersionCheck {
  return { id, sentence, level: "money", source: section, isEssential: false, needsTopUp: true, judge };
}

/** A decision of topupd. @param heading of docs/decisions.md. */
export function decided(
  id: string,
  heading: string,
  sentence: string,
  judge: VersionCheck["judge"],
  { needsTopUp = false }: Traits = {},
): VersionCheck {
  return { id, sentence, level: "topupd", source: heading, isEssential: false, needsTopUp, judge };
}

/** A decision of topupd on both versions together. @param heading of docs/decisions.md. */
export function decidedForAll(
  id: string,
  heading: string,
  sentence: string,
  judgeAll: RunCheck["judgeAll"],
  { needsTopUp = false }: Traits = {},
): RunCheck {
  return { id, sentence, level: "topupd", source: heading, isEssential: false, needsTopUp, judgeAll };
}
