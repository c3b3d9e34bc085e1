import { expect, test } from "vitest";
import type { LedgerEntry, Run } from "../src/api/staff-api.d.ts";
import { entryWords, periodWords, whenWords } from "../src/pages/customers/ledger-words.ts";

const MONTHLY: Run = { bouquetId: "TV-1M", name: "Family", start: "2026-10-24 09:00:00", end: "2026-11-24 09:00:00" };

function entry(kind: LedgerEntry["kind"], more: Partial<LedgerEntry>): LedgerEntry {
  return {
    seq: 1,
    kind,
    at: "2026-11-23T08:20:00.000Z",
    wall: "2026-11-23 14:05:09",
    before: MONTHLY,
    after: MONTHLY,
    period: null,
    bouquetId: null,
    txnId: null,
    partner: null,
    amount: null,
    reverses: null,
    reversedBy: null,
    author: null,
    reason: null,
    asOf: null,
    stated: null,
    goodwill: null,
    isOpening: false,
    counted: null,
    bouquetName: null,
    ...more,
  };
}

const topUp = entry("top_up", {
  period: { months: 1, days: 0 },
  partner: "Blue Wallet",
  amount: "1450.00",
  after: { ...MONTHLY, end: "2026-12-24 09:00:00" },
});

test("describes a top-up with the partner, the whole amount and both ends", () => {
  expect(entryWords(topUp, [topUp], "NPR")).toBe(
    "Topped up by Blue Wallet, 1 month for NPR 1,450.00: ends 2026-12-24 09:00 instead of 2026-11-24 09:00.",
  );
});

test("does not report a moved end if the previous run had ended", () => {
  const over = { ...MONTHLY, end: "2026-11-01 09:00:00" };
  const after = { ...MONTHLY, bouquetId: "TV-3M", name: "Family 3", start: topUp.wall, end: "2027-02-23 14:05:09" };
  expect(entryWords({ ...topUp, before: over, after }, [], null)).toMatch(
    /: starts again, ends 2027-02-23 14:05, now Family 3\.$/,
  );
});

test("describes the reversed entry and the rest", () => {
  const more = { seq: 2, reverses: 1, author: "Sunita", reason: "paid twice", before: topUp.after, after: null };
  const reversal = entry("reversal", more);
  expect(entryWords(reversal, [topUp, reversal], null)).toBe(
    "Top-up of 2026-11-23 14:05 reversed by Sunita (paid twice): nothing runs any more.",
  );
});

test("states the time of an import's records, and that the end is unchanged", () => {
  const imported = entry("import", { asOf: "2026-11-22 02:00:00", isOpening: true });
  expect(entryWords(imported, [imported], null)).toBe(
    "Imported, records as of 2026-11-22 02:00: still ends 2026-11-24 09:00. Earlier history was deleted.",
  );
});

test("counts months and days", () => {
  expect(periodWords({ months: 12, days: 1 })).toBe("12 months and 1 day");
});

test("a plan that has not begun is said to run from its start", () => {
  const run = { ...MONTHLY, start: "2027-02-01 00:00:00", addOn: false, daysLeft: 98 };
  expect(whenWords({ state: "waiting" }, run)).toBe("from 2027-02-01 00:00");
});
