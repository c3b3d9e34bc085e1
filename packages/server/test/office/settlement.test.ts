import { describe, expect, test } from "vitest";
import type { Verdict } from "../../src/domain/reconciliation.ts";
import { reverseTransaction } from "../../src/office/corrections/reversal.ts";
import { exportSettlement, reconcilePartner, reportSettlement } from "../../src/office/settlement/operations.ts";
import { reconcile } from "../../src/office/settlement/reconcile.ts";
import { refusal, run } from "../support/desk.ts";
import { countTurns } from "../support/turns.ts";
import { customer, DAY_MS, MINUTE_MS, openWorld, type World } from "../support/world.ts";

const PRODUCTION = { environment: "production" } as const;

async function withCustomer(): Promise<World> {
  const world = await openWorld();
  await world.importCustomers([customer("1", { end: "2026-12-10 10:00:00" })]);
  return world;
}

describe("a settlement", () => {
  const DAYS = { from: "2026-11-19", to: "2026-11-21" };

  test("has a line for each day, also of reversals, and the last is open until nothing can come", async () => {
    const world = await withCustomer();
    const { txnId: id } = await world.topUp("1");
    world.now += DAY_MS;
    await run(world.desk, reverseTransaction, { id, reason: "charged back" });
    const report = () => run(world.desk, reportSettlement, { ...DAYS, detail: "day" });
    const none = { service: null, bouquetId: null, partner: "wallet" };
    world.now = Date.parse("2026-11-22T00:00:29.999Z");
    const total = { topUps: 1, gross: "1130.00", reversals: 1, reversed: "1130.00", commission: "0.00", net: "0.00" };
    const untaxed = { base: "0.00", taxes: [] };
    expect(await report()).toEqual({
      ...{ ...DAYS, number: null, open: true },
      lines: [
        {
          ...none,
          day: "2026-11-20",
          topUps: 1,
          gross: "1130.00",
          reversals: 0,
          reversed: "0.00",
          commission: "0.00",
          net: "1130.00",
          base: "1130.00",
          taxes: [],
        },
        {
          ...none,
          day: "2026-11-21",
          topUps: 0,
          gross: "0.00",
          reversals: 1,
          reversed: "1130.00",
          commission: "0.00",
          net: "-1130.00",
          base: "-1130.00",
          taxes: [],
        },
      ],
      ...{ settledBy: null, byPartner: [{ partner: "wallet", ...total, ...untaxed }], total: { ...total, ...untaxed } },
    });
    world.now += 1;
    expect(await report()).toMatchObject({ open: false });
  });

  test("has a number on paper if it is of one partner, always the same for its days", async () => {
    const world = await openWorld();
    const numberOf = async (input: object) =>
      (await run(world.desk, reportSettlement, { from: "2026-11-01", to: "2026-11-30", ...input })).number;
    expect(await numberOf({})).toBeNull();
    const number = await numberOf({ partner: "wallet" });
    expect(number).toMatch(/^2026-11-P[0-9]+$/);
    world.now += DAY_MS;
    expect(await numberOf({ partner: "wallet", detail: "day" })).toBe(number);
    expect(await numberOf({ partner: "wallet", environment: "trial" })).toBe(`${number}-T`);
  });

  test("is of this month unless days are given, and goes to the end of the month of its first day", async () => {
    const { desk } = await openWorld();
    const days = async (input: object) => {
      const { from, to } = await run(desk, reportSettlement, input);
      return [from, to];
    };
    expect(await days({})).toEqual(["2026-11-01", "2026-11-30"]);
    expect(await days({ from: "2024-02-03" })).toEqual(["2024-02-03", "2024-02-29"]);
    expect(await days({ to: "2026-10-07" })).toEqual(["2026-10-01", "2026-10-07"]);
  });

  test("of a leap year is one report, and a day more is refused", async () => {
    const { desk } = await openWorld();
    const report = (to: string) => run(desk, reportSettlement, { from: "2028-01-01", to });
    expect(await report("2028-12-31")).toMatchObject({ from: "2028-01-01", to: "2028-12-31", lines: [] });
    expect((await refusal(report("2029-01-01"))).problems).toEqual([
      { field: "to", problem: "may be 365 days after from at most: ask for each year by itself" },
    ]);
  });

  test.each([
    [{ from: "2026-02-30", to: "2026-03-01" }, "from"],
    [{ from: "2026-02-11", to: "2026-02-10" }, "to"],
    [{ from: "2026-01-01", to: "2027-01-02" }, "to"],
    [{ ...DAYS, partner: "nobody" }, "partner"],
  ])("of %j is refused", async (input, field) => {
    const { desk } = await openWorld();
    for (const operation of [reportSettlement, exportSettlement] as const)
      expect(await refusal(run(desk, operation as typeof reportSettlement, input))).toMatchObject({
        ...{ code: "invalid", problems: [{ field }] },
      });
  });
});

describe("reconciling", () => {
  async function* each<Row>(...rows: readonly Row[]) {
    yield* rows;
  }

  /** What a row is answered whose counterpart, by udf1, was recorded so long after the beginning of a period of a day. */
  async function answersAt(world: World, offset: number, key: "udf1" | "txnId" | "checkoutId") {
    const from = world.now;
    world.now += offset;
    const transaction = await world.topUp("1", "NET-1M", "order-1");
    const request = { ...PRODUCTION, partnerId: world.partner.id, from, until: from + DAY_MS, key };
    const { amount } = transaction;
    const row = { line: 2, key: String(transaction[key]), amount, status: "success" as const };
    const rows = each({ ...row, line: 1, key: "other" }, row);
    const { verdicts, total } = await reconcile(world.ports, request, rows);
    expect(total).toMatchObject({ answers: 2, theirs: amount * 2n });
    return new Set(verdicts.keys());
  }

  test.each<readonly [string, number, Verdict]>([
    ["the first moment of a period", 0, "matched"],
    ["its last", DAY_MS - 1, "matched"],
    ["the moment after it", DAY_MS, "other_period"],
    ["not quite two days after it", 3 * DAY_MS - 1, "other_period"],
    ["two days after it", 3 * DAY_MS, "theirs_only"],
  ])("by udf1 takes a top-up of %s into account as far as two days around it", async (_, offset, verdict) => {
    expect(await answersAt(await withCustomer(), offset, "udf1")).toEqual(new Set(["theirs_only", verdict]));
  });

  test.each([
    ["first moment after the period is of another period, so that both books agree", DAY_MS, "matched"],
    ["last moment of the period is of the period, so that the partner must know it", DAY_MS - 1, "status_differs"],
  ] as const)("a reversal at the %s", async (_, offset, verdict) => {
    const world = await withCustomer();
    const from = world.now;
    const { txnId, amount } = await world.topUp("1");
    world.now = from + offset;
    await run(world.desk, reverseTransaction, { id: txnId, reason: "charged back" });
    const request = { ...PRODUCTION, partnerId: world.partner.id, from, until: from + DAY_MS, key: "txnId" } as const;
    const row = { line: 2, key: txnId, amount, status: "success" } as const;
    expect([...(await reconcile(world.ports, request, each(row))).verdicts.keys()]).toEqual([verdict]);
  });

  test.each(["txnId", "checkoutId"] as const)("by %s finds a top-up of any time", async (key) => {
    expect(await answersAt(await withCustomer(), 90 * DAY_MS, key)).toEqual(new Set(["theirs_only", "other_period"]));
  });

  test("answers the rows in their order, and then the top-ups that the file lacks, oldest first", async () => {
    const world = await withCustomer();
    const from = world.now;
    const made = [];
    for (const udf1 of ["a", "b", "c"]) {
      made.push(await world.topUp("1", "NET-1M", udf1));
      world.now += MINUTE_MS;
    }
    const request = { ...PRODUCTION, partnerId: world.partner.id, from, until: world.now, key: "udf1" } as const;
    const row = (line: number, key: string) => ({ line, key, amount: 1n, status: "success" as const });
    const { differences, verdicts } = await reconcile(world.ports, request, each(row(2, "x"), row(3, "b")));
    const told = differences.map(({ theirs, ours }) => (theirs === undefined ? ours?.txnId : `line ${theirs.line}`));
    expect(told).toEqual(["line 2", "line 3", made[0]?.txnId, made[2]?.txnId]);
    expect([...verdicts.keys()].sort()).toEqual(["amount_differs", "ours_only", "theirs_only"]);
  });

  test.each<readonly [string, (line: number) => string, Verdict]>([
    ["unknown keys", (line) => `unknown-${line}`, "theirs_only"],
    ["one key", () => "same", "duplicate"],
  ])("lets others have their turn between 1,000 rows of %s", async (_, keyOf, verdict) => {
    const world = await openWorld();
    const rows = Array.from({ length: 20_000 }, (_row, line) => {
      return { line, key: keyOf(line), amount: 1n, status: "success" as const };
    });
    const period = { from: world.now, until: world.now + DAY_MS };
    const request = { ...PRODUCTION, ...period, partnerId: world.partner.id, key: "checkoutId" } as const;
    const turns = countTurns();
    const { verdicts } = await reconcile(world.ports, request, each(...rows));
    expect(turns()).toBeGreaterThanOrEqual(20);
    expect(verdicts.get(verdict)?.answers).toBe(20_000);
  });
});

describe("a partner's file", () => {
  const compare = ({ desk, now }: World, text: string, more: object = {}) => {
    const day = new Date(now).toISOString().slice(0, 10);
    const file = { name: "book.csv", isCsv: true, open: () => pieces(text) };
    return run(desk, reconcilePartner, { file, partner: "wallet", from: day, to: day, key: "udf1", ...more });
  };
  async function* pieces(text: string) {
    yield Buffer.from(text);
  }

  async function withTopUps(): Promise<World> {
    const world = await withCustomer();
    for (const udf1 of ["order-1", "order-2", "order-3"]) await world.topUp("1", "NET-1M", udf1);
    return world;
  }

  test("has each row named that cannot be read", async () => {
    const world = await withCustomer();
    const rows = ['order-1,"3,220.50",paid', "order-3,450,lent", ",450,paid", '"a\r\nb",450.001,paid', "x,1,paid,more"];
    const book = `\ufeffudf1,amount,state\r\n${rows.join("\r\n")}\r\n`;
    const { differences } = await compare(world, book, { statusColumn: "state" });
    const noAmount = (text: string) => `amount is ${JSON.stringify(text)}, and no amount such as 1130 or 1130.50`;
    expect(differences.map(({ verdict, line, problem }) => [verdict, line, problem])).toEqual([
      ["unreadable", 2, noAmount("3,220.50")],
      ["unreadable", 3, 'state is "lent", a word with no known meaning'],
      ["unreadable", 4, "udf1 is empty"],
      ["unreadable", 5, noAmount("450.001")],
      ["unreadable", 7, "it has 4 cells, and the header has 3"],
    ]);
  });

  test("loses no other row to one that cannot be read", async () => {
    const rows = [
      '"order-1,1130',
      'order-2 "x",1130',
      "order-1,1130",
      '="order-2",1130',
      '="7,8",1130',
      '"order-3",1130',
    ];
    const { differences, verdicts } = await compare(await withTopUps(), `udf1,amount\n${rows.join("\n")}\n"x,1`);
    const noCsv = "is no CSV: a quote must enclose a whole cell";
    expect(differences.map(({ verdict, line, key, problem }) => [verdict, line, key ?? problem])).toEqual([
      ["unreadable", 2, noCsv],
      ["unreadable", 3, noCsv],
      ["theirs_only", 5, '="order-2"'],
      ["theirs_only", 6, "7,8"],
      ["unreadable", 8, noCsv],
      ["ours_only", null, "order-2"],
    ]);
    expect(verdicts[0]).toMatchObject({ verdict: "matched", rows: 2 });
  });

  const changed = (value: string) =>
    `udf1 is "${value}", a number that a spreadsheet or another program has changed: make the column text there`;
  const none = (value: string) => `udf1 is "${value}", which programs write for no value`;
  const zeros = "a top-up has the key 000123, which differs by leading zeros alone";
  test.each([
    [
      "udf1,amount\n2.02611E+13,3220.50\n2.02611E+13,1130\n123,300\n=INV-9,300\n+INV-10,300\n",
      [...Array(2).fill(changed("2.02611E+13")), zeros, "=INV-9", "+INV-10"],
    ],
    ["udf1;amount\n2,02611E+13;1130\n", [changed("2,02611E+13")]],
    [
      "udf1;amount\nNULL;1130\n#N/A;1130\n20261120000117.0;1130\n1e5;1130\n",
      [none("NULL"), none("#N/A"), changed("20261120000117.0"), changed("1e5")],
    ],
  ])("names keys that a spreadsheet has changed: %j", async (book, said) => {
    const world = await withCustomer();
    for (const udf1 of ["20261120000117", "20261120000242", "000123"]) await world.topUp("1", "NET-1M", udf1);
    const { differences } = await compare(world, book, { delimiter: book.slice(4, 5) });
    const ofFile = differences.filter(({ line }) => line !== null);
    expect(ofFile.map(({ problem, key }) => problem ?? key)).toEqual(said);
    const verdictOf = (text: string) => (text.startsWith("udf1 ") ? "unreadable" : "theirs_only");
    expect(ofFile.map(({ verdict }) => verdict)).toEqual(said.map(verdictOf));
  });

  test("takes no text marker for a part of a key or amount", async () => {
    const world = await withCustomer();
    await world.topUp("1", "NET-1M", "00012400");
    await world.topUp("1", "NET-1M", "'s-1");
    const { differences } = await compare(world, "udf1,amount\n'00012400,=\"1130.00\"\n's-1,'1130\n");
    expect(differences).toEqual([]);
  });

  test("may have failed attempts and refunds beside a top-up", async () => {
    const world = await withCustomer();
    const [made, reversed] = [await world.topUp("1"), await world.topUp("1")];
    await run(world.desk, reverseTransaction, { id: reversed.txnId, reason: "charged back" });
    const rows = [
      `${made.checkoutId},,FAILED`,
      `${made.checkoutId},1130.00,SUCCESS`,
      `${reversed.checkoutId},1130.00,SUCCESS`,
      `${reversed.checkoutId},-1130.00,REFUNDED`,
    ];
    const book = `checkoutId,amount,status\n${rows.join("\n")}\n`;
    const found = await compare(world, book, { key: "checkoutId", statusColumn: "status" });
    expect(found).toMatchObject({ differences: [], total: { rows: 4, theirs: "1130.00", ours: "1130.00" } });
    const withoutStatus = `checkoutId,amount\n${reversed.checkoutId},1130\n${reversed.checkoutId},-1130\n`;
    const { verdicts } = await compare(world, withoutStatus, { key: "checkoutId" });
    expect(verdicts.map(({ verdict, rows: count }) => [verdict, count])).toEqual([
      ["matched", 2],
      ["ours_only", 1],
    ]);
  });

  test("of attempts at a top-up of another day says once that it is of another day", async () => {
    const world = await withCustomer();
    const { checkoutId } = await world.topUp("1");
    world.now += 3 * DAY_MS;
    const book = `checkoutId,amount,status\n${checkoutId},1130,FAILED\n${checkoutId},1130,SUCCESS\n`;
    const { differences } = await compare(world, book, { key: "checkoutId", statusColumn: "status" });
    expect(differences.map(({ verdict, line }) => [verdict, line])).toEqual([["other_period", 3]]);
  });

  test("may have its own words, delimiter and columns", async () => {
    const world = await withTopUps();
    const book = "id;sum;state\norder-1;1130;GETAN\norder-3;1130;storno\nx;1;nichts\n";
    const columns = { keyColumn: "id", amountColumn: "sum", statusColumn: "state", delimiter: ";" };
    const values = { successValues: "getan,ok", reversedValues: "Storno", failedValues: "nichts" };
    const { differences, verdicts } = await compare(world, book, { ...columns, ...values });
    expect(differences.map(({ verdict, key }) => `${verdict} ${key}`)).toEqual([
      "status_differs order-3",
      "ours_only order-2",
    ]);
    expect(verdicts[0]).toMatchObject({ verdict: "matched", rows: 2 });
  });

  test.each([
    ["", {}, [], "the file is empty"],
    ['udf1,"amount\n', {}, [], "line 1 is no CSV"],
    ["udf1,amount,amount\n", { keyColumn: "id" }, ["keyColumn"], ""],
    ["udf1,amount,amount\n", {}, ["amountColumn"], ""],
    ["udf1,amount\n", { failedValues: "Paid" }, ["failedValues"], ""],
    ["udf1,amount\n", { delimiter: "ab" }, ["delimiter"], ""],
    ["udf1,amount\n", { partner: "nobody" }, ["partner"], ""],
  ])("such as %j, with %j, is refused", async (text, more, fields, said) => {
    const { code, words, problems } = await refusal(compare(await withCustomer(), text, more));
    expect({ code, fields: problems.map(({ field }) => field) }).toEqual({ code: "invalid", fields });
    expect(words).toContain(said);
  });
});
