import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  isUnreadable,
  Join,
  keyOf,
  NO_TALLY,
  type OurRow,
  THEIR_STATUSES,
  type TheirRow,
  tally,
  type UnreadableRow,
  type Verdict,
} from "../../src/domain/reconciliation.ts";
import { TRANSACTION_STATUSES, type Transaction } from "../../src/domain/transaction.ts";
import { RUNS } from "./builders.ts";

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

describe("rows that owe nothing", () => {
  const [S, R, F] = [{}, { status: "reversed" }, { status: "failed", amount: 0n }] as const;
  const half = { status: "reversed", amount: 20_000n } as const;
  const [made, undone] = [{}, { status: "reversed" }] as const;
  test.each<[string, readonly Partial<TheirRow>[], readonly Partial<OurRow>[], Verdict[], bigint]>([
    ["a failed attempt before a success", [F, S], [made], ["matched", "matched"], 45_000n],
    ["failed attempts alone", [F, F], [made], ["matched", "status_differs"], 0n],
    ["a refund of a reversed top-up", [S, R], [undone], ["matched", "matched"], 0n],
    ["a refund of a top-up that stands", [S, R], [made], ["matched", "status_differs"], 0n],
    ["a refund of a top-up that is not here", [S, R], [], ["matched", "matched"], 0n],
    ["a refund before a second success", [S, R, S], [undone, made], Array(4).fill("matched"), 45_000n],
    ["a refund that is listed twice", [R, R], [undone], ["matched", "matched"], 0n],
    ["a reversed top-up beside one that was made", [S], [undone, made], ["matched", "matched"], 45_000n],
    [
      "a failed attempt and two successes",
      [F, S, S],
      [made],
      ["duplicate", "duplicate", "duplicate", "matched"],
      90_000n,
    ],
    ["a refund of another amount", [S, half], [made], ["duplicate", "duplicate", "duplicate"], 45_000n],
  ])("make no duplicates: %s", (_, theirs, ours, verdicts, owed) => {
    const rows = theirs.map((row, index) => theirRow("a", { line: index + 2, ...row }));
    const answers = joined(
      rows,
      ours.map((row) => ourRow("a", row)),
    );
    expect(verdictsOf(answers).toSorted()).toEqual(verdicts);
    expect(answers.reduce(tally, NO_TALLY).theirs).toBe(owed);
  });
});

test.each([
  ["123", "000123", "000123"],
  ["000123", "123", "123"],
  ["0123", "000123", "000123"],
  ["123", "0001230", undefined],
  ["A1", "0A1", undefined],
])("a row %s and a top-up %s are two, and the row names the top-up if zeros alone differ", (theirs, ours, nearKey) => {
  const [row, topUp] = joined([theirRow(theirs)], [ourRow(ours)]);
  expect([row?.verdict, row?.nearKey, topUp?.verdict]).toEqual(["theirs_only", nearKey, "ours_only"]);
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
      const linesOf = (rows: readonly Theirs[]) => rows.map(({ line }) => line).toSorted((a, b) => a - b);
      expect(linesOf(answers.flatMap((answer) => answer.theirs ?? []))).toEqual(linesOf(theirs));
      expect(answers.filter((answer) => answer.ours?.isInPeriod)).toHaveLength(inPeriod.length);
      const cancelled = theirs.reduce((sum, row) => sum + cancelledBy(row, theirs), 0n);
      expect(answers.reduce(tally, NO_TALLY)).toMatchObject({ theirs: owedBy(theirs) - cancelled, ours: owedOf(ours) });
      for (const { verdict, theirs: row, ours: topUp } of answers)
        if (verdict === "duplicate")
          expect([row && "status" in row && row.status, topUp?.status]).not.toContain("failed");
    }),
    RUNS,
  );
});

test("a reference that was not given is no key", () => {
  const transaction = { checkoutId: "c", txnId: "t", udf1: "" } as Transaction;
  expect(keyOf(transaction, "udf1")).toBeUndefined();
  for (const udf1 of [undefined, "NULL", "#N/A"]) expect(keyOf({ ...transaction, udf1 }, "udf1")).toBeUndefined();
  expect(keyOf(transaction, "txnId")).toBe("t");
});

function owedBy(theirs: readonly Theirs[]): bigint {
  return theirs.reduce((sum, row) => sum + (isUnreadable(row) || row.status !== "success" ? 0n : row.amount), 0n);
}

/** What a row, if it is the first of its key and amount, takes from the successes of that key and amount. */
function cancelledBy(row: Theirs, theirs: readonly Theirs[]): bigint {
  if (isUnreadable(row)) return 0n;
  const same = theirs.filter((each) => !isUnreadable(each) && each.key === row.key && each.amount === row.amount);
  const countOf = (status: TheirRow["status"]) => same.filter((each) => (each as TheirRow).status === status).length;
  return same[0] === row ? row.amount * BigInt(Math.min(countOf("success"), countOf("reversed"))) : 0n;
}

function owedOf(ours: readonly OurRow[]): bigint {
  return ours.reduce((sum, row) => sum + (row.isInPeriod && row.status === "success" ? row.amount : 0n), 0n);
}

function shuffled<Item>(items: readonly Item[], random: Iterator<number>): Item[] {
  const left = [...items];
  return items.map(() => left.splice((random.next().value as number) % left.length, 1)[0] as Item);
}
