import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runGoodwillHistories } from "../../campaign/goodwill-files.ts";
import { type LedgerRules, runLedgerHistories } from "../../campaign/paid-time.ts";

/*
 * Mutation test: each rule of the ledger is changed, one at a time, in a copy of its source. The histories must fail. A
 * rule that could change without a failure would be untested.
 */

const DOMAIN = new URL("../../src/domain/", import.meta.url).pathname;
const FILES = ["wall-time", "subscription", "ledger", "ledger-check", "ledger-import", "ledger-retention"] as const;
type File = (typeof FILES)[number];

/** Rule, file, original text and changed text. */
const MUTANTS: readonly (readonly [rule: string, file: File, from: string, to: string])[] = [
  ["paid at the very end is a new run", "subscription", "run.end > now", "run.end >= now"],
  ["a period is added to a run", "ledger", "isRunning(before, at.wall) ? before :", "before?.end === '' ? before :"],
  ["months are counted from the anchor", "subscription", "endOf(anchor, period,", "endOf(run.end, period,"],
  ["whole months of records are counted as months", "subscription", "count >= 0 &&", "count < 0 &&"],
  [
    "an end at a day's last second stands for the midnight after it",
    "subscription",
    'end.endsWith(" 23:59:59") &&',
    'end === "" &&',
  ],
  ["and stays a second before it", "subscription", "isInclusive ? secondBefore(end) : end", "end"],
  ["what is reversed does not count", "ledger", "!reversedAt.has(entry.seq)) now =", "true) now ="],
  ["nothing is reversed twice", "ledger", "if (reversed.has(reversal.of))", "if (reversed.has(-1))"],
  ["what is left keeps its own time", "ledger", "recount(ledger.plan, [...entries, uncounted]).at(-1)", "SHORTER"],
  ["a top-up after the records is added", "ledger", "at.instant <= asOf.instant && (kind", "true && (kind"],
  [
    "a top-up at their moment is held",
    "ledger",
    "at.instant <= asOf.instant && (kind",
    "at.instant < asOf.instant && (kind",
  ],
  ["a top-up before the records is held", "ledger", '(kind === "top_up" || goodwill', "(goodwill"],
  ["records bring back nothing reversed", "ledger", "start) && !reversedAt.has(grant.seq)", "start)"],
  [
    "what was reversed after the records is left out",
    "ledger",
    "now = shortened(now, grant.period)",
    "now = { ...now }",
  ],
  ["a reversal that they hold is not subtracted again", "ledger", "reversed > asOf.instant) now", "reversed > 0) now"],
  ["records that lack goodwill get it", "ledger", '|| goodwill === "held")', "|| true)"],
  ["records that hold goodwill do not get it again", "ledger", '|| goodwill === "held")', "|| false)"],
  ["goodwill before the stated start is not added whole", "ledger", "|| grant.at.wall >= start;", "|| true;"],
  ["goodwill beyond the stated start is added", "ledger", "return Math.max(0, Math.floor(", "return Math.min(0, ("],
  ["goodwill that bridged a lapse is used up", "ledger", "paid > start ? paid : start", "paid"],
  ["time that was paid for is no goodwill", "ledger", "paid > start ? paid : start", "start"],
  ["both readings are tried", "ledger-import", "? GOODWILL_READINGS :", '? ["lacking"] :'],
  ["and not only that records hold it", "ledger-import", "? GOODWILL_READINGS :", '? ["held"] :'],
  ["a reading that is said is taken", "ledger-import", "goodwill === undefined && given", "given"],
  ["the reading that leaves the end is right", "ledger-import", "if (same !== undefined) return same;", ""],
  [
    "other records are held back until it is said",
    "ledger-import",
    "read[0]?.after?.end) ? read[0] : undefined",
    "1) || read[0]",
  ],
  [
    "the entry keeps its reading",
    "ledger-import",
    "since, goodwill: each }, now),",
    'since, goodwill: each }, now)).map((e) => ({ ...e, goodwill: "held" }),',
  ],
  [
    "goodwill of an ended run is used up",
    "ledger-import",
    "isRunning(last?.after, wall) ? last.after.since :",
    "true ? 0 :",
  ],
  [
    "goodwill of the run that is on is kept",
    "ledger-import",
    "isRunning(last?.after, wall) ?",
    "last?.after?.end === '' ?",
  ],
  [
    "a file that changes nothing makes no entry",
    "ledger-import",
    "isSameSubscription(before, entry.after)",
    "before === entry.after",
  ],
  ["a file that ends a paid run is held back", "ledger-import", "if (allowsShorter || lostMs <= 0", "if (lostMs !== 0"],
  [
    "a plan that is gone from the file is held back",
    "ledger-import",
    "after?.end ?? now.wall",
    "after?.end ?? before.end",
  ],
  ["so is one that is in neither book", "ledger-import", "=== 0 && rowEnd === undefined)", "=== 0)"],
  ["records without seconds take nothing away", "ledger-import", "lostMs < toleranceDays * DAY_MS", "lostMs < 0"],
  ["the tolerance is a day", "ledger-import", "toleranceDays * DAY_MS", "toleranceDays * DAY_MS * 5"],
  ["a reset begins a new run", "ledger-import", "since: seq + 1, goodwill", "since: 0, goodwill"],
  ["a run is kept whole when history goes", "ledger-retention", "seq > needed) first -= 1", "seq > needed) break"],
  [
    "a run is kept from its first entry",
    "ledger-retention",
    "const run = entry.after?.since ?? entry.seq",
    "const run = entry.seq",
  ],
  ["what a reversal takes back is kept", "ledger-retention", "return Math.min(run, entry.of)", "return run"],
  ["what an import was laid over is kept", "ledger-retention", "Math.min(run, entry.since) : run", "entry.seq : run"],
  ["what a pruned ledger is counted from stays", "ledger", 'return "history_gone"', 'return "not_a_word" as never'],
];

/** A reversal that shortens the run, instead of a recount. */
const SHORTER = `(() => {
  const last = headOf(ledger).subscription;
  return last && shortened(last, entry.period);
})()`;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "topupd-mutants-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function rulesWith(name: string, change?: { file: File; from: string; to: string }): Promise<LedgerRules> {
  const copy = join(folder, name);
  for (const file of FILES) cpSync(join(DOMAIN, `${file}.ts`), join(copy, `${file}.ts`));
  if (change !== undefined) {
    const path = join(copy, `${change.file}.ts`);
    const source = readFileSync(path, "utf8");
    expect(source.split(change.from), `${change.from} stands once in ${change.file}.ts`).toHaveLength(2);
    writeFileSync(
      path,
      source.replace(change.from, () => change.to.replace("SHORTER", () => SHORTER)),
    );
  }
  const load = (file: File) => import(/* @vite-ignore */ pathToFileURL(join(copy, `${file}.ts`)).href);
  return {
    ...(await load("ledger")),
    ...(await load("ledger-check")),
    ...(await load("ledger-import")),
    ...(await load("ledger-retention")),
  } as LedgerRules;
}

describe("a change of a rule is noticed", () => {
  test.each(MUTANTS.map((mutant, index) => [...mutant, index] as const))("%s", async (_rule, file, from, to, index) => {
    const rules = await rulesWith(`mutant-${index}`, { file, from, to });
    // A few histories find most of the faults.
    const play = (count: number) => [runGoodwillHistories(1, count / 2, rules), runLedgerHistories(1, count, rules)];
    expect(() => [100, 2_000].map(play)).toThrow(/^history \d+ of seed 1: Error: /);
  });

  test("and the rules as they are pass the same histories", async () => {
    const rules = await rulesWith("unchanged");
    expect(runLedgerHistories(1, 500, rules).compared).toBeGreaterThan(0);
    expect(runGoodwillHistories(1, 500, rules).exports).toBeGreaterThan(0);
  });
});
