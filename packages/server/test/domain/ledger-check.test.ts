import { expect, test } from "vitest";
import type { Entry, Ledger } from "../../src/domain/ledger.ts";
import { findFault } from "../../src/domain/ledger-check.ts";
import { at, goodwill, imported, ledgerOf, reversal, stated, topUp } from "./builders.ts";

/*
 * That no ledger which the rules made has a fault, pruned or not, is what the histories of ledger.property.test.ts show.
 */

const FIRST = [topUp("2027-01-10"), goodwill("2027-01-11", 7), topUp("2027-01-12"), reversal("2027-01-13", 3)];
const { plan, entries } = ledgerOf(...FIRST, imported("2027-01-14", stated("2027-01-10", "2027-06-10")));

function changed(seq: number, change: (entry: Entry) => object): Ledger {
  return {
    plan,
    entries: entries.map((entry) => (entry.seq === seq ? ({ ...entry, ...change(entry) } as Entry) : entry)),
  };
}

test.each<[string, Ledger, string]>([
  ["another period", changed(1, () => ({ period: { months: 2, days: 0 } })), "entry 1 does not follow"],
  ["another time", changed(2, () => ({ at: at("2027-05-01") })), "entry 2 does not follow"],
  ["another state", changed(3, ({ after }) => ({ after: { ...after, start: "2026-01-01 00:00:00" } })), "entry 3 does"],
  ["a reversal of another entry", changed(4, () => ({ of: 1 })), "entry 4 does not follow"],
  ["a reversal of none", changed(4, () => ({ of: 7 })), "entry 4 reverses what cannot be reversed"],
  ["other records", changed(5, () => ({ stated: undefined })), "entry 5 does not follow"],
  ["an entry missing", { plan, entries: entries.filter(({ seq }) => seq !== 2) }, "entry 3 stands after entry 1"],
])("a ledger with %s has a fault", (_, faulty, said) => {
  expect(findFault({ plan, entries })).toBeUndefined();
  expect(findFault(faulty)).toContain(said);
});

test("a pruned ledger begins with what is taken as it is, but for its end", () => {
  const entry = entries[2] as Entry;
  expect(findFault({ plan, entries: [entry] })).toBeUndefined();
  const moved = { ...entry, after: { ...entry.after, end: "2030-01-01 00:00:00" } } as Entry;
  expect(findFault({ plan, entries: [moved] })).toContain("has an end that is not its anchor");
});
