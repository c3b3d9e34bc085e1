import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LedgerRules, runLedgerHistories } from "../../campaign/paid-time.ts";

/*
 * Each rule of the ledger is changed on purpose, one at a time, in a copy of its source: the histories must notice. A
 * rule that could be changed without a failure would be tested by nothing.
 */

const DOMAIN = new URL("../../src/domain/", import.meta.url).pathname;
const FILES = ["wall-time", "subscription", "ledger", "ledger-import"] as const;
type File = (typeof FILES)[number];

/** What is changed, in which file, and what the text becomes. */
const MUTANTS: readonly (readonly [rule: string, file: File, from: string, to: string])[] = [
  ["paid at the very end is a new run", "subscription", "run.end > now", "run.end >= now"],
  ["a period is added to a run", "ledger", "if (!isRunning(before, at.wall))", "if (before?.end !== '')"],
  ["months are counted from the anchor", "subscription", "plus(run.anchor, period)", "plus(run.end, period)"],
  ["whole months of records are counted as months", "subscription", "count >= 0 &&", "count < 0 &&"],
  ["what is reversed does not count", "ledger", "!reversedAt.has(entry.seq)) now =", "true) now ="],
  ["nothing is reversed twice", "ledger", "if (reversed.has(reversal.of))", "if (reversed.has(-1))"],
  ["what is left keeps its own time", "ledger", "recount(ledger.plan, [...entries, uncounted]).at(-1)", "SHORTER"],
  ["a top-up after the records is added", "ledger", "grant.at.instant > asOf.instant", "grant.at.instant < 0"],
  ["a top-up at their moment is held", "ledger", "grant.at.instant > asOf.instant", "grant.at.instant >= asOf.instant"],
  ["a top-up before the records is held", "ledger", "grant.at.instant > asOf.instant", "true"],
  ["goodwill stays on top of records", "ledger", 'grant.kind === "goodwill" ||', ""],
  ["records bring back nothing reversed", "ledger", "!isNews || reversedAt.has(grant.seq)", "!isNews"],
  ["what was reversed after the records is left out", "ledger", "now = shortened(now, period)", "now = { ...now }"],
  ["a reversal that they hold is not subtracted again", "ledger", "?? 0) > asOf.instant)", "?? 0) > 0)"],
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
    "isSameSubscription(before, after)",
    "before === after",
  ],
  ["a file that ends a paid run is held back", "ledger-import", "if (allowsShorter || lostMs <= 0", "if (lostMs !== 0"],
  [
    "a plan that is gone from the file is held back",
    "ledger-import",
    "after?.end ?? now.wall",
    "after?.end ?? before.end",
  ],
  ["records without seconds take nothing away", "ledger-import", "lostMs < toleranceDays * DAY_MS", "lostMs < 0"],
  ["the tolerance is a day", "ledger-import", "toleranceDays * DAY_MS", "toleranceDays * DAY_MS * 5"],
  ["a reset adds nothing to what is stated", "ledger-import", "since: seq + 1 }", "since: 0 }"],
  ["a run is kept whole when history goes", "ledger", "seq > needed) first -= 1", "seq > needed) break"],
  [
    "a run is kept from its first entry",
    "ledger",
    "const run = entry.after?.since ?? entry.seq",
    "const run = entry.seq",
  ],
  ["what a reversal takes back is kept", "ledger", "return Math.min(run, entry.of)", "return run"],
  ["what an import was laid over is kept", "ledger", "Math.min(run, entry.since) : run", "entry.seq : run"],
  ["what a pruned ledger is counted from stays", "ledger", 'return "history_gone"', 'return "not_a_word" as never'],
];

/** A reversal that ends the run earlier, in place of counting again. */
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
    ...(await load("ledger-import")),
  } as LedgerRules;
}

describe("a change of a rule is noticed", () => {
  test.each(MUTANTS.map((mutant, index) => [...mutant, index] as const))("%s", async (_rule, file, from, to, index) => {
    const rules = await rulesWith(`mutant-${index}`, { file, from, to });
    expect(() => runLedgerHistories(1, 2_000, rules)).toThrow(/^history \d+ of seed 1: Error: /);
  });

  test("and the rules as they are pass the same histories", async () => {
    expect(runLedgerHistories(1, 500, await rulesWith("unchanged")).compared).toBeGreaterThan(0);
  });
});
