import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addSums, NO_SALES, type SaleSums } from "../../src/domain/account.ts";
import {
  type Answer,
  type DaySales,
  isUnreadable,
  Join,
  keyOf,
  NO_TALLY,
  netOf,
  type OurRow,
  SETTLEMENT_DETAILS,
  settleDay,
  settlementNumber,
  THEIR_STATUSES,
  type TheirRow,
  tally,
  type UnreadableRow,
  type Verdict,
} from "../../src/domain/settlement.ts";
import { TRANSACTION_STATUSES, type Transaction } from "../../src/domain/transaction.ts";
import { RUNS } from "./builders.ts";

const DAY = "2026-11-20";

const LABEL = { day: DAY, environment: "production" } as const;
const sold = (partnerId: number, service: DaySales["service"], bouquetCode: string, topUps = 1, gross = 100n) => ({
  ...{ ...LABEL, ...NO_SALES, partnerId, service, bouquetCode, topUps, gross, commission: gross / 10n },
});
const reversed = (partnerId: number, service: DaySales["service"], bouquetCode: string, reversals = 1, of = 100n) => ({
  ...{ ...LABEL, ...NO_SALES, partnerId, service, bouquetCode, reversals, reversed: of, returned: of / 10n },
});

const anySales: fc.Arbitrary<DaySales[]> = fc.array(
  fc.record({
    day: fc.constant(DAY),
    environment: fc.constant("production"),
    partnerId: fc.integer({ min: 1, max: 3 }),
    service: fc.constantFrom("tv", "internet", "iptv"),
    bouquetCode: fc.constantFrom("A", "B", "__proto__", "A,B"),
    topUps: fc.integer({ min: 0, max: 1_000 }),
    gross: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    commission: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    reversals: fc.integer({ min: 0, max: 1_000 }),
    reversed: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    returned: fc.bigInt({ min: 0n, max: 10n ** 24n }),
  }),
);

describe("the settlement of a day", () => {
  test("has a line for each partner, service and bouquet, in that order, and reversals beside top-ups", () => {
    const topUps = [sold(2, "tv", "TV-1M"), sold(1, "tv", "TV-1M"), sold(1, "internet", "NET-3M", 2, 700n)];
    const reversals = [reversed(1, "tv", "TV-1M", 1, 60n), reversed(1, "internet", "NET-1M", 3, 900n)];
    const line = (partnerId: number, service: string, bouquetCode: string, total: Partial<SaleSums>) => ({
      ...{ day: DAY, partnerId, service, bouquetCode, ...NO_SALES, ...total },
    });
    expect(settleDay([...topUps, ...reversals], "bouquet")).toEqual([
      line(1, "internet", "NET-1M", { reversals: 3, reversed: 900n, returned: 90n }),
      line(1, "internet", "NET-3M", { topUps: 2, gross: 700n, commission: 70n }),
      line(1, "tv", "TV-1M", { topUps: 1, gross: 100n, reversals: 1, reversed: 60n, commission: 10n, returned: 6n }),
      line(2, "tv", "TV-1M", { topUps: 1, gross: 100n, commission: 10n }),
    ]);
  });

  test("is negative where more was taken back than topped up", () => {
    const [line] = settleDay([reversed(1, "tv", "TV-1M", 1, 45_000n)], "bouquet");
    expect(netOf(line ?? NO_SALES)).toBe(-40_500n);
    expect(settleDay([], "day")).toEqual([]);
  });

  test("comes to the same for every partner, to the minor unit, however fine its lines are", () => {
    fc.assert(
      fc.property(anySales, (sales) => {
        for (const detail of SETTLEMENT_DETAILS) {
          const lines = settleDay(sales, detail);
          const labels = lines.map(({ partnerId, service, bouquetCode }) => [partnerId, service, bouquetCode]);
          expect(new Set(labels.map((label) => JSON.stringify(label))).size).toBe(lines.length);
          for (const partnerId of [1, 2, 3]) {
            const total = lines.filter((line) => line.partnerId === partnerId).reduce<SaleSums>(addSums, NO_SALES);
            const its = sales.filter((one) => one.partnerId === partnerId);
            expect(total).toMatchObject(its.reduce<SaleSums>(addSums, NO_SALES));
          }
        }
      }),
      RUNS,
    );
  });
});

type Theirs = TheirRow | UnreadableRow;

const theirRow = (key: string, more: Partial<TheirRow> = {}): TheirRow => ({
  ...{ line: 2, key, amount: 45_000n, status: "success", ...more },
});
const ourRow = (key: string | undefined, more: Partial<OurRow> = {}): OurRow => ({
  ...{ key, txnId: `txn of ${key}`, checkoutId: `checkout of ${key}`, amount: 45_000n, status: "success", at: 0 },
  ...{ isInPeriod: true, newer: 0, isReversedLater: false, ...more },
});

function joined(theirs: readonly Theirs[], ours: readonly OurRow[]): Answer[] {
  const join = new Join();
  for (const row of theirs) join.addTheirs(row);
  for (const row of ours) join.addOurs(row);
  return [...join.answers()];
}

const verdictsOf = (answers: readonly Answer[]) => answers.map(({ verdict }) => verdict);

test.each([
  ["2026-11-01", "2026-11-30", "production", "2026-11-P7"],
  ["2028-02-01", "2028-02-29", "production", "2028-02-P7"],
  ["2027-12-01", "2027-12-31", "trial", "2027-12-P7-T"],
  ["2028-02-01", "2028-02-28", "production", "20280201-20280228-P7"],
  ["2026-11-01", "2026-12-31", "production", "20261101-20261231-P7"],
  ["2026-11-02", "2026-11-30", "production", "20261102-20261130-P7"],
  ["2026-11-15", "2026-11-15", "trial", "20261115-20261115-P7-T"],
] as const)("the settlement of %s to %s in %s has the number %s", (from, to, environment, number) => {
  expect(settlementNumber({ from, to, partnerId: 7, environment })).toBe(number);
});

describe("a row and a top-up with one key", () => {
  test.each<[Verdict, Partial<TheirRow> | undefined, Partial<OurRow> | undefined]>([
    ["matched", {}, {}],
    ["amount_differs", { amount: 45_001n }, {}],
    ["amount_differs", { amount: 45_001n, status: "reversed" }, {}],
    ["status_differs", { status: "reversed" }, {}],
    ["status_differs", { status: "failed" }, {}],
    ["status_differs", { amount: 0n, status: "failed" }, {}],
    ["matched", { amount: 0n, status: "failed" }, { status: "reversed" }],
    ["status_differs", {}, { status: "reversed" }],
    ["matched", { status: "reversed" }, { status: "reversed" }],
    ["matched", { status: "failed" }, { status: "reversed" }],
    ["theirs_only", {}, undefined],
    ["matched", { status: "failed" }, undefined],
    ["matched", { status: "reversed" }, undefined],
    ["ours_only", undefined, {}],
    ["matched", undefined, { status: "reversed" }],
    ["other_period", {}, { isInPeriod: false }],
    ["amount_differs", { amount: 1n }, { isInPeriod: false }],
  ])("are %s: %o and %o", (verdict, theirs, ours) => {
    const answers = joined(theirs ? [theirRow("a", theirs)] : [], ours ? [ourRow("a", ours)] : []);
    expect(verdictsOf(answers)).toEqual([verdict]);
  });

  test.each([{}, { status: "reversed" }, { status: "failed" }] as const)(
    "agree where the top-up was taken back after the period, and count alike in both books: %o",
    (theirs) => {
      const later = { status: "reversed", isReversedLater: true } as const;
      const [answer] = joined([theirRow("a", theirs)], [ourRow("a", later)]) as [Answer];
      expect(answer.verdict).toBe("matched");
      const sums = tally(NO_TALLY, answer);
      expect(sums.ours).toBe(sums.theirs);
      expect(verdictsOf(joined([], [ourRow("a", later)]))).toEqual(["matched"]);
    },
  );

  test("are told apart from others by every character of the key", () => {
    const answers = joined([theirRow("order-1"), theirRow("__proto__")], [ourRow("Order-1"), ourRow("order-1 ")]);
    expect(verdictsOf(answers).toSorted()).toEqual(["ours_only", "ours_only", "theirs_only", "theirs_only"]);
  });

  test("are answered though the row cannot be read, so that nobody is told to bill the top-up", () => {
    const row: UnreadableRow = { line: 3, key: "a", problem: "amount is wrong" };
    expect(joined([row], [ourRow("a")])).toEqual([{ verdict: "unreadable", theirs: row, ours: ourRow("a") }]);
  });
});

describe("a key that stands more than once", () => {
  test("in the file makes all of its rows duplicates, and the top-up too", () => {
    const rows = [theirRow("a", { line: 2 }), theirRow("a", { line: 5 }), theirRow("a", { line: 9 })];
    const answers = joined(rows, [ourRow("a")]);
    expect(verdictsOf(answers)).toEqual(["duplicate", "duplicate", "duplicate", "duplicate"]);
    expect(answers.flatMap(({ theirs }) => theirs?.line ?? [])).toEqual([2, 5, 9]);
  });

  test("with top-ups of the period makes them duplicates, and the row too", () => {
    const answers = joined([theirRow("a")], [ourRow("a", { txnId: "1" }), ourRow("a", { txnId: "2" })]);
    expect(verdictsOf(answers)).toEqual(["duplicate", "duplicate", "duplicate"]);
    expect(answers.flatMap(({ ours }) => ours?.txnId ?? [])).toEqual(["1", "2"]);
  });

  test("with a top-up of another day is that of the period", () => {
    const [inPeriod, before] = [ourRow("a"), ourRow("a", { isInPeriod: false, amount: 1n })];
    const both = [inPeriod, before];
    for (const ours of [both, both.toReversed()])
      expect(joined([theirRow("a")], ours)).toEqual([{ verdict: "matched", theirs: theirRow("a"), ours: inPeriod }]);
  });

  test("because it is none is no duplicate", () => {
    const answers = joined([], [ourRow(undefined), ourRow(undefined), ourRow(undefined, { isInPeriod: false })]);
    expect(verdictsOf(answers)).toEqual(["ours_only", "ours_only"]);
  });
});

/** Changes to a partner's file, and the expected verdicts. */
const PERTURBATIONS = {
  keep: "matched",
  forget: "ours_only",
  misread: "amount_differs",
  flip: "status_differs",
  repeat: "duplicate",
  invent: "theirs_only",
  late: "other_period",
} as const satisfies Record<string, Verdict>;
type Perturbation = keyof typeof PERTURBATIONS;

const anyBook = fc.array(
  fc.record({
    perturbation: fc.constantFrom(...(Object.keys(PERTURBATIONS) as Perturbation[])),
    amount: fc.bigInt({ min: 2n, max: 10n ** 15n - 1n }),
  }),
  { maxLength: 60 },
);

test("a partner's book that was shuffled and altered shows exactly the alterations, and adds up to both books", () => {
  fc.assert(
    fc.property(anyBook, fc.infiniteStream(fc.nat()), (book, random) => {
      const [theirs, ours]: [TheirRow[], OurRow[]] = [[], []];
      const expected: string[] = [];
      for (const [index, { perturbation, amount }] of book.entries()) {
        const key = `key ${index}`;
        const row = theirRow(key, { amount });
        if (perturbation !== "invent") ours.push(ourRow(key, { amount, isInPeriod: perturbation !== "late" }));
        if (perturbation === "misread") theirs.push({ ...row, amount: amount - 1n });
        else if (perturbation === "flip") theirs.push({ ...row, status: "reversed" });
        else if (perturbation === "repeat") theirs.push(row, row);
        else if (perturbation !== "forget") theirs.push(row);
        const times = perturbation === "repeat" ? 3 : 1;
        for (let time = 0; time < times; time += 1) expected.push(`${key} ${PERTURBATIONS[perturbation]}`);
      }
      const answers = joined(shuffled(theirs, random), shuffled(ours, random));
      const found = answers.map(({ verdict, ...row }) => `${row.theirs?.key ?? row.ours?.key} ${verdict}`);
      expect(found.toSorted()).toEqual(expected.toSorted());
      const total = answers.reduce(tally, NO_TALLY);
      expect(total).toEqual({ answers: answers.length, theirs: owedBy(theirs), ours: owedOf(ours) });
    }),
    RUNS,
  );
});

const anyKey = fc.constantFrom("a", "b", "c", "d");
const anyTheirs: fc.Arbitrary<Theirs> = fc.oneof(
  fc.record({
    ...{ line: fc.nat(), key: anyKey, amount: fc.bigInt({ min: 1n, max: 3n }) },
    status: fc.constantFrom(...THEIR_STATUSES),
  }),
  fc.record({ line: fc.nat(), key: fc.option(anyKey, { nil: undefined }), problem: fc.constant("wrong") }),
);
const anyOurs: fc.Arbitrary<OurRow> = fc.record({
  ...{ key: fc.option(anyKey, { nil: undefined }), txnId: fc.string(), checkoutId: fc.string(), at: fc.nat() },
  ...{ amount: fc.bigInt({ min: 1n, max: 3n }), status: fc.constantFrom(...TRANSACTION_STATUSES) },
  ...{ isInPeriod: fc.boolean(), newer: fc.nat(), isReversedLater: fc.constant(false) },
});

test("whatever there is, every row and every top-up of the period is in exactly one answer", () => {
  fc.assert(
    fc.property(fc.array(anyTheirs, { maxLength: 12 }), fc.array(anyOurs, { maxLength: 12 }), (theirs, ours) => {
      const answers = joined(theirs, ours);
      const inPeriod = ours.filter((row) => row.isInPeriod);
      expect(new Set(answers.flatMap((answer) => answer.theirs ?? []))).toEqual(new Set(theirs));
      expect(answers.filter((answer) => answer.theirs !== undefined)).toHaveLength(theirs.length);
      expect(answers.filter((answer) => answer.ours?.isInPeriod)).toHaveLength(inPeriod.length);
      expect(answers.reduce(tally, NO_TALLY)).toMatchObject({ theirs: owedBy(theirs), ours: owedOf(ours) });
    }),
    RUNS,
  );
});

test("a reference that was not given is no key", () => {
  const transaction = { checkoutId: "c", txnId: "t", udf1: "" } as Transaction;
  expect(keyOf(transaction, "udf1")).toBeUndefined();
  expect(keyOf({ ...transaction, udf1: undefined }, "udf1")).toBeUndefined();
  expect(keyOf(transaction, "txnId")).toBe("t");
});

function owedBy(theirs: readonly Theirs[]): bigint {
  return theirs.reduce((sum, row) => sum + (isUnreadable(row) || row.status !== "success" ? 0n : row.amount), 0n);
}

function owedOf(ours: readonly OurRow[]): bigint {
  return ours.reduce((sum, row) => sum + (row.isInPeriod && row.status === "success" ? row.amount : 0n), 0n);
}

function shuffled<Item>(items: readonly Item[], random: Iterator<number>): Item[] {
  const left = [...items];
  return items.map(() => left.splice((random.next().value as number) % left.length, 1)[0] as Item);
}
