import { CHECKS } from "./checks/all.ts";
import type { Check, Level } from "./checks/check.ts";
import { bodyOf, describeAnswer, type Exchange, isHtmlPage, unjudgeable } from "./exchange.ts";
import type { RunFacts, Version, VersionFacts } from "./facts.ts";
import { takeNotes } from "./notes.ts";
import { fails, skipped, type Verdict } from "./verdict.ts";

/** Why checks of top-ups are skipped where none may be made. */
export const NEEDS_TOP_UP = "needs --top-up, which spends";

/** What one check said of one version, or of the versions together. */
export interface CheckResult {
  readonly id: string;
  readonly group: Version | "versions";
  readonly level: Level;
  readonly sentence: string;
  /** The section of the interface, or the heading of topupd's decisions. */
  readonly source: string;
  readonly outcome: "holds" | "fails" | "noted" | "skipped";
  /** Where it fails or is noted. */
  readonly expected?: string;
  /** Where it fails or is noted; of what kind the value was, never a value that may be personal. */
  readonly came?: string;
  /** Why it was skipped. */
  readonly reason?: string;
}

/** Something worth knowing that no demand speaks of. */
export interface Note {
  readonly group: Version;
  readonly text: string;
}

export interface Report {
  readonly format: "topupd-conformance-1";
  /** Whether nothing failed and everything essential was judged. */
  readonly ok: boolean;
  readonly baseUrl: string;
  readonly prefix: string;
  readonly profile: "interface" | "topupd";
  readonly topUp: boolean;
  readonly counts: { readonly holds: number; readonly fails: number; readonly noted: number; readonly skipped: number };
  /** Essential checks that could not be judged, as `version id`. */
  readonly unjudged: readonly string[];
  readonly results: readonly CheckResult[];
  readonly notes: readonly Note[];
}

export interface Scope {
  readonly baseUrl: string;
  readonly prefix: string;
  readonly profile: "interface" | "topupd";
  readonly topUp: boolean;
}

/** Judges what was seen. */
export function judge(facts: RunFacts, scope: Scope): Report {
  const checks = CHECKS.filter(({ level }) => level !== "topupd" || scope.profile === "topupd");
  const results = [
    ...facts.versions.flatMap((version) => checks.flatMap((check) => judgeVersion(check, version, scope))),
    ...checks.flatMap((check) => judgeVersions(check, facts, scope)),
  ];
  const count = (outcome: CheckResult["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  const counts = { holds: count("holds"), fails: count("fails"), noted: count("noted"), skipped: count("skipped") };
  const unjudged = results.filter((result) => isUnjudged(result, scope)).map(({ group, id }) => `${group} ${id}`);
  const ok = counts.fails === 0 && unjudged.length === 0;
  return { format: "topupd-conformance-1", ok, ...scope, counts, unjudged, results, notes: takeNotes(facts) };
}

function isUnjudged({ id, outcome }: CheckResult, { topUp }: Scope): boolean {
  const check = CHECKS.find((candidate) => candidate.id === id);
  return outcome === "skipped" && check?.isEssential === true && (topUp || !check.needsTopUp);
}

function judgeVersion(check: Check, facts: VersionFacts, scope: Scope): CheckResult[] {
  if (!("judge" in check)) return [];
  const verdict = guard(check, scope, () => check.judge(facts));
  const cause = verdict.outcome === "skipped" ? causeOf(check, facts, scope) : undefined;
  return [resultOf(check, facts.version, cause === undefined ? verdict : skipped(cause))];
}

/** Why a check found nothing to judge, where the check itself cannot know. */
function causeOf({ needsTopUp }: Check, { lookUp, spending }: VersionFacts, { topUp }: Scope): string | undefined {
  if (needsTopUp && !topUp) return NEEDS_TOP_UP;
  if (bodyOf(lookUp) === undefined) return unjudgeable(lookUp) ?? whyNoEnvelope(lookUp);
  return needsTopUp ? spending?.stopped : undefined;
}

/** In words that say whose doing it is: the service's, a web server's or the kit's. */
function whyNoEnvelope(lookUp: Exchange): string {
  if (!lookUp.answered || isHtmlPage(lookUp)) return `the look-up brought ${describeAnswer(lookUp)}`;
  return "the look-up brought nothing to go on with";
}

function judgeVersions(check: Check, facts: RunFacts, scope: Scope): CheckResult[] {
  if (!("judgeAll" in check)) return [];
  return [
    resultOf(
      check,
      "versions",
      guard(check, scope, () => check.judgeAll(facts)),
    ),
  ];
}

/** A service can answer with things on which a check itself breaks, such as an array nested without end. */
function guard({ needsTopUp }: Check, { topUp }: Scope, run: () => Verdict): Verdict {
  if (needsTopUp && !topUp) return skipped(NEEDS_TOP_UP);
  try {
    return run();
  } catch {
    return fails("an answer that can be judged", "one that cannot");
  }
}

function resultOf({ id, level, sentence, source }: Check, group: CheckResult["group"], verdict: Verdict): CheckResult {
  return { id, group, level, sentence, source, ...verdict };
}
