import type { Static } from "typebox";
import { expect, test } from "vitest";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { listAccountEntries } from "../../src/office/accounts/entries.ts";
import type { EntriesSchema } from "../../src/office/accounts/schemas.ts";
import { exportStatement, showStatement } from "../../src/office/accounts/statement.ts";
import { listPartners, showPartner } from "../../src/office/partners/operations.ts";
import { reportSettlement } from "../../src/office/settlement/operations.ts";
import { exportTransactions } from "../../src/office/transactions/operations.ts";
import type { Store } from "../../src/store/store.ts";
import { refusal, run } from "../support/desk.ts";
import { moveHorizon } from "../support/history.ts";
import { ACCOUNT, deposit, openAccountDesk } from "./account-desk.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import { RAM_NET, RAM_TV, SITA_NET, SITA_TV } from "./provider.ts";

/** The entries that a partner sees. */
export function testAccountStatements(makeDatabase: MakeDatabase): void {
  test("a statement is one paper: sales, entries with references, and who owes whom", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const days = { environment: "production", from: "2026-11-01", to: "2026-11-30" } as const;
    const settledBy = async (partner?: string) =>
      (await run(opened.desk(), reportSettlement, { ...days, ...(partner && { partner }) })).settledBy;
    const paper = () => run(opened.desk(), showStatement, { ...ACCOUNT, month: "2026-11" });
    await opened.commission({ percent: "10" });
    await opened.buy();
    const [, bought] = await opened.buy();
    await opened.reverse(bought);
    const sold = [
      { kind: "top_up", count: 2, amount: "-2260.00" },
      { kind: "commission", count: null, amount: "113.00" },
      { kind: "reversal", count: 1, amount: "1130.00" },
    ];
    expect(await paper()).toMatchObject({ lines: sold, closing: "-1017.00", owing: "partner", owed: "1017.00" });
    expect(await opened.show()).toMatchObject({ owing: "partner", balanceState: "good" });
    expect(await settledBy("wallet")).toBe("invoice");
    await opened.enter(deposit("1017", "bank-1"));
    expect(await paper()).toMatchObject({ closing: "0.00", owing: "nobody", owed: "0.00" });
    await opened.enter({ kind: "adjustment", amount: "-0.50", reference: "C-1", reason: "fee" });
    await opened.enter(deposit("1,000", "bank-2"));
    const { lines, ...rest } = await paper();
    expect(rest).toMatchObject({ opening: "0.00", closing: "999.50", owing: "provider", owed: "999.50" });
    const txnDate = opened.store.provider.zone.wallTime(opened.now);
    expect(lines.slice(3)).toEqual(
      [
        { kind: "deposit", count: null, txnDate, reference: "bank-1", reason: null, amount: "1017.00" },
        { kind: "deposit", count: null, txnDate, reference: "bank-2", reason: null, amount: "1000.00" },
        { kind: "adjustment", count: null, txnDate, reference: "C-1", reason: "fee", amount: "-0.50" },
      ].toSorted((a, b) => (a.reference < b.reference ? -1 : 1)),
    );
    expect([await settledBy("wallet"), await settledBy()]).toEqual(["account", null]);
  });

  test("partners have what is available, the balance's state, and today's refusals", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const listed = async () => (await run(opened.desk(), listPartners, { environment: "production" })).items[0];
    await opened.account({ alertBelow: "100" });
    expect(await listed()).toMatchObject({ state: "low", available: null, balanceState: "low" });
    await opened.account({ creditLimit: "0" });
    expect(await listed()).toMatchObject({ state: "spent", available: "0.00", balanceState: "spent" });
    for (const _ of [1, 2]) expect((await opened.buy())[0]).toBe("insufficient_balance");
    const refused = { reason: "insufficient_balance", limit: null, count: 2, amount: "2260.00" };
    const shown = (environment: "production" | "trial") =>
      run(opened.desk(), showPartner, { name: "wallet", environment });
    expect(await shown("production")).toMatchObject({ refusedToday: [refused] });
    expect(await shown("trial")).toMatchObject({ refusedToday: [] });
    expect(await listed()).toMatchObject({ state: "refused_today", refusedToday: [refused], lastUsedAt: null });
    expect(await run(opened.desk(), listPartners, { environment: "trial" })).toMatchObject({
      items: [{ state: "active", available: null, refusedToday: [] }],
    });
    opened.now += DAY_MS;
    await opened.enter(deposit("5000", "bank-1"));
    expect(await listed()).toMatchObject({ state: "active", available: "5000.00", refusedToday: [] });
    expect(await opened.show()).toMatchObject({ available: "5000.00", balanceState: "good" });
  });

  test("entries come in pages with the balance after each; nothing before the horizon is listed", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const { store, partner, now } = opened;
    const usual = { partnerId: partner.id, environment: "production", kind: "deposit", amount: 1, reason: "" } as const;
    const made = { ...usual, author: "test" };
    const rows = Array.from({ length: 410 }, (_, index) => {
      const { instant: at, wall } = store.provider.zone.moment(now + index);
      return { ...made, reference: String(index), at, wall };
    });
    await store.engine.transact((tx) => tx.insertInto("accountEntry").values(rows).execute());
    const pages: number[] = [];
    const balances: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const input: Static<(typeof listAccountEntries)["input"]> = { ...ACCOUNT, ...(cursor !== "" && { cursor }) };
      const page: Static<typeof EntriesSchema> = await run(opened.desk(), listAccountEntries, input);
      expect(page).toMatchObject({ from: "2026-11-01", to: "2026-11-30", opening: "0.00", closing: "4.10" });
      pages.push(page.items.length);
      balances.push(...page.items.map(({ balance }) => balance));
      cursor = page.cursor;
    }
    expect(pages).toEqual([...Array(8).fill(50), 10]);
    // Newest first.
    expect(balances.toReversed()).toEqual(
      rows.map((_, index) => `${Math.floor((index + 1) / 100)}.${String((index + 1) % 100).padStart(2, "0")}`),
    );
    opened.now += 4 * DAY_MS;
    await opened.enter(deposit("1", "late"));
    await moveHorizon(opened, Date.parse("2026-11-22T00:00:00Z"));
    const page = await run(opened.desk(), listAccountEntries, ACCOUNT);
    expect(page).toMatchObject({ opening: "0.00", closing: "5.10", prunedBefore: "2026-11-22" });
    expect(page.items).toMatchObject([{ reference: "late", balance: "5.10" }]);
    expect(await statementRows(opened, "2026-11")).toMatchObject([{ reference: "late", balance: "5.10" }]);
    for (const bad of [
      { cursor: "W10" },
      { from: "2026-11-02", to: "2026-11-01" },
      { from: "2026-10-01", to: "2026-11-01" },
    ])
      expect(await refusal(run(opened.desk(), listAccountEntries, { ...ACCOUNT, ...bad }))).toMatchObject({
        code: "invalid",
      });
  });
}

/** What happens at once. */
export function testAccountStatementsAtOnce(makeDatabase: MakeDatabase): void {
  test("statement, settlement and exported transactions of a month agree, also when its days are stored", async () => {
    const opened = await openAccountDesk(makeDatabase);
    const { store } = opened;
    await opened.commission({ percent: "2.55" });
    await opened.enter(deposit("10000", "opening"));
    const bought: string[] = [];
    for (const [of, code] of [
      [SITA_NET, "NET-1M"],
      [SITA_TV, "TV-1M"],
      [RAM_NET, "NET-3M"],
      [RAM_TV, "TV-3M"],
    ] as const) {
      bought.push((await opened.buy(of, code))[1]);
      opened.now += 2 * DAY_MS;
    }
    await opened.reverse(bought[1] as string);
    opened.now = Date.parse("2026-12-01T00:00:00Z");
    await opened.buy();
    await opened.reverse(bought[0] as string);
    await opened.enter({ kind: "withdrawal", amount: "7", reference: "V-1" });
    const months = ["2026-10", "2026-11", "2026-12"];
    const statements = () =>
      Promise.all(months.map((month) => run(opened.desk(), showStatement, { ...ACCOUNT, month })));
    const before = await statements();
    const [october, november, december] = before;
    expect([october?.closing, november?.opening, november?.closing]).toEqual(["0.00", "0.00", december?.opening]);
    expect(december).toMatchObject({ number: "2026-12-P1", open: true, closing: (await opened.show()).balance });
    const minor = (text: string | null | undefined) => BigInt((text ?? "0").replace(".", ""));
    const netOf = (of: typeof november) =>
      (of?.lines ?? []).reduce((sum, { txnDate, amount }) => sum - (txnDate === null ? minor(amount) : 0n), 0n);
    const days = { from: "2026-11-01", to: "2026-11-30" };
    const settlement = await run(opened.desk(), reportSettlement, { ...ACCOUNT, ...days, partner: "wallet" });
    expect(settlement.number).toBe(november?.number);
    expect(netOf(november)).toBe(minor(settlement.total.net));
    expect(settlement).toMatchObject({ settledBy: "account", byPartner: [{ partner: "wallet", ...settlement.total }] });
    let exported = 0n;
    for await (const rows of await run(opened.desk(), exportTransactions, { environment: "production" }))
      for (const { amount, commission, txnDate, reversedAt } of rows) {
        const charge = minor(amount) - minor(commission);
        exported += txnDate.startsWith("2026-11") ? charge : 0n;
        exported -= reversedAt?.startsWith("2026-11") ? charge : 0n;
      }
    expect(netOf(november)).toBe(exported);
    const file = await statementRows(opened, "2026-11");
    expect(file.map(({ kind }) => kind)).toEqual(["deposit", ...Array(4).fill("top_up"), "reversal"]);
    expect(file.at(-1)?.balance).toBe(november?.closing);
    expect(file.reduce((sum, { amount }) => sum + minor(amount), 0n)).toBe(minor(november?.closing));
    opened.now += 5 * DAY_MS;
    expect((await statements()).map((each) => ({ ...each, open: null }))).toEqual(
      before.map((each) => ({ ...each, open: null })),
    );
    expect(await findWrong(store)).toEqual([]);
  });
}

async function statementRows({ desk }: { readonly desk: (on?: Store) => Parameters<typeof run>[0] }, month: string) {
  const rows = [];
  for await (const page of await run(desk(), exportStatement, { ...ACCOUNT, month })) rows.push(...page);
  return rows;
}
