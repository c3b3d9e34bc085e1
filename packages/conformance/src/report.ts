import { CHECKS } from "./checks/all.ts";
import { type Check, fails, type Level, skipped, type Verdict } from "./checks/check.ts";
import {
  bodyOf,
  describeAnswer,
  type Exchange,
  envelopeOf,
  isHtmlPage,
  isSuccess,
  saysJson,
  unjudgeable,
} from "./exchange.ts";
import { type RunFacts, SERVICES, type Version, type VersionFacts } from "./facts.ts";
import { findConnections, readCheckoutId, readResult } from "./read.ts";
import { asArray, member } from "./shape.ts";

/** Why checks of top-ups are skipped without --top-up. */
export const NEEDS_TOP_UP = "needs --top-up, which spends";

/** The result of one check for one version, or for the versions together. */
export interface CheckResult {
  readonly id: string;
  readonly group: Version | "versions";
  readonly level: Level;
  readonly sentence: string;
  /** The section of the interface, or the heading of topupd's decisions. */
  readonly source: string;
  readonly outcome: "holds" | "fails" | "noted" | "skipped";
  /** Set if it fails or is noted. */
  readonly expected?: string;
  /** Set if it fails or is noted: the kind of value, never one that may be personal. */
  readonly came?: string;
  /** Why it was skipped. */
  readonly reason?: string;
}

/** A fact worth knowing that belongs to no check. */
export interface Note {
  readonly group: Version;
  readonly text: string;
}

export interface Report {
  readonly format: "topupd-conformance-1";
  /** Whether nothing failed and everything essential was judged. */
  readonly ok: boolean;
  readonly base: string;
  readonly profile: "interface" | "topupd";
  readonly topUp: boolean;
  readonly counts: { readonly holds: number; readonly fails: number; readonly noted: number; readonly skipped: number };
  /** Essential checks that could not be judged, as `version id`. */
  readonly unjudged: readonly string[];
  readonly results: readonly CheckResult[];
  readonly notes: readonly Note[];
}

export interface Scope {
  readonly base: string;
  readonly profile: "interface" | "topupd";
  readonly topUp: boolean;
}

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

/** Why a check had nothing to judge, if the check itself cannot know. */
function causeOf({ needsTopUp }: Check, { lookUp, spending }: VersionFacts, { topUp }: Scope): string | undefined {
  if (needsTopUp && !topUp) return NEEDS_TOP_UP;
  if (bodyOf(lookUp) === undefined) return unjudgeable(lookUp) ?? whyNoEnvelope(lookUp);
  return needsTopUp ? spending?.stopped : undefined;
}

/** The words show the cause: the service, a web server or the kit. */
function whyNoEnvelope(lookUp: Exchange): string {
  if (!lookUp.answered || isHtmlPage(lookUp)) return `the look-up brought ${describeAnswer(lookUp)}`;
  return "the look-up brought nothing to go on with";
}

function judgeVersions(check: Check, facts: RunFacts, scope: Scope): CheckResult[] {
  if (!("judgeAll" in check)) return [];
  const verdict = guard(check, scope, () => check.judgeAll(facts));
  return [resultOf(check, "versions", verdict)];
}

/** An answer may break a check itself, such as an endlessly nested array. */
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

/** Facts that the interface does not forbid, but that deserve a look. */
function takeNotes({ versions }: RunFacts): Note[] {
  return versions.flatMap((facts) => notesOn(facts).map((text) => ({ group: facts.version, text })));
}

function notesOn({
  version,
  lookUp,
  customer,
  withoutToken,
  listingWithoutToken,
  listings,
  exchanges,
  spending,
  practice,
}: VersionFacts): string[] {
  const connections = findConnections(bodyOf(lookUp), version);
  const items = SERVICES.flatMap((key) => asArray(member(connections, key)) ?? []);
  const isOther = (item: unknown) => !["active", "inactive"].includes(member(item, "status") as string);
  const answers = [lookUp, ...listings.map(({ exchange }) => exchange), spending?.topUp, spending?.status];
  const isOddStatus = answers.some((answer) => answer?.answered === true && isSuccess(answer) && answer.status !== 200);
  const doubt = [spending, practice].find((each) => each?.isInDoubt === true);
  const toppedUp = readResult(spending?.topUp);
  const notes: readonly (readonly [boolean, string])[] = [
    [
      bodyOf(withoutToken) !== undefined && member(bodyOf(withoutToken), "customer") !== undefined,
      "A request without an access token was answered with a customer (§5 Authentication).",
    ],
    [
      bodyOf(listingWithoutToken) !== undefined && readCheckoutId(listingWithoutToken) !== undefined,
      "A request without an access token was answered with a checkoutId (§5 Authentication).",
    ],
    [
      exchanges.some((exchange) => envelopeOf(exchange) !== undefined && !saysJson(exchange)),
      "JSON came with another Content-Type than application/json, which may keep programs from reading it (§2).",
    ],
    [
      [customer, ...items].some((item) => item !== undefined && isOther(item)),
      "A status other than active and inactive came, which are those observed (§3).",
    ],
    [
      toppedUp !== undefined && member(toppedUp, "status") !== "success",
      "The top-up's status is not success, which is the one observed (§2 Transaction result).",
    ],
    [
      spending?.topUp !== undefined && !isSuccess(spending.topUp) && readResult(spending.status) !== undefined,
      "The top-up did not succeed, yet txn-status tells of one: it was made, and paid for.",
    ],
    [
      spending?.isLate === true,
      "txn-status told of the top-up only when it was asked again (§1): partners may take it for lost.",
    ],
    [doubt !== undefined, `Check the payments: they may exceed the announced amount, because ${doubt?.stopped}.`],
    [isOddStatus, "A success came with another HTTP status than 200, which the interface does not forbid (§7)."],
  ];
  return notes.flatMap(([isTrue, text]) => (isTrue ? [text] : []));
}
