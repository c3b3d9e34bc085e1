import { expect, test } from "vitest";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { exportStatement } from "../../src/office/accounts/statement.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { reportSettlement, settlementTable } from "../../src/office/settlement/operations.ts";
import { addTax, listTaxes, removeTax } from "../../src/office/taxes/operations.ts";
import { exportTransactions, showTransaction } from "../../src/office/transactions/operations.ts";
import { refusal, run } from "../support/desk.ts";
import { moveHorizon, pruneHistory } from "../support/history.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import { type OpenedProvider, openProvider, RAM_NET, SITA_NET, SITA_TV } from "./provider.ts";

const PERIOD = { from: "2026-11-20", to: "2026-11-30" } as const;
const minor = (text: string | null | undefined) => BigInt((text ?? "none").replace(".", ""));

export function testTaxes(makeDatabase: MakeDatabase): void {
  test("a tax begins after today and after the service's last top-up, so that no past sale changes", async () => {
    const opened = await openTaxed(makeDatabase);
    const today = await opened.topUp(SITA_NET, "NET-1M");
    const refused = async (from: string, service: "internet" | "tv" = "internet") =>
      (await refusal(opened.add("VAT", "13", from, service))).problems;
    const reason = (day: string) => [
      { field: "from", problem: `must be later than ${day}: top-ups until that day keep their taxes` },
    ];
    expect(await refused("2026-11-20")).toEqual(reason("2026-11-20"));
    expect(await refused("2026-02-30")).toMatchObject([{ field: "from" }]);
    opened.now += 2 * DAY_MS;
    const ahead = await opened.topUp(RAM_NET, "NET-1M");
    opened.now -= 2 * DAY_MS;
    expect(await refused("2026-11-22")).toEqual(reason("2026-11-22"));
    expect(await refused("2026-11-19")).toEqual(reason("2026-11-22"));
    await opened.add("VAT", "13", "2026-11-21", "tv");
    await opened.add("VAT", "13", "2026-11-23");
    opened.now += 3 * DAY_MS;
    const taxed = await opened.topUp(SITA_NET, "NET-1M");
    const shown = async (id: string) => {
      const { base, taxes } = await run(opened.desk(), showTransaction, { id });
      return { base, taxes };
    };
    for (const { txnId } of [today, ahead]) expect(await shown(txnId)).toEqual({ base: "1130.00", taxes: [] });
    expect(await shown(taxed.txnId)).toEqual({ base: "1000.00", taxes: [{ name: "VAT", amount: "130.00" }] });
  });

  test("a share is replaced from a day on, ended with 0, and removed until it begins; each is audited", async () => {
    const opened = await openTaxed(makeDatabase);
    await opened.add("VAT", "13", "2026-11-21");
    await opened.add("VAT", "14.3", "2026-12-01");
    await opened.add("VAT", "15", "2026-12-01");
    await opened.add("TSC", "0", "2026-12-01", "tv");
    const of = { name: "VAT", service: "internet" } as const;
    const tax = (share: string, from: string) => ({ ...of, share, from });
    const all = [
      tax("13", "2026-11-21"),
      tax("15", "2026-12-01"),
      { ...tax("0", "2026-12-01"), name: "TSC", service: "tv" },
    ];
    expect((await run(opened.desk(), listTaxes, {})).items).toEqual(all);
    const remove = (from: string) => run(opened.desk(), removeTax, { ...of, from });
    expect(await refusal(remove("2026-11-22"))).toMatchObject({ code: "not_found" });
    await remove("2026-12-01");
    opened.now += DAY_MS;
    const begun = await refusal(remove("2026-11-21"));
    expect(begun).toMatchObject({ code: "conflict", words: expect.stringContaining("share 0 from a later day") });
    for (const share of ["101", "1.00001", "x"])
      expect(await refusal(opened.add("VAT", share, "2026-12-01"))).toMatchObject({ problems: [{ field: "share" }] });
    const entries = await listEntries(opened.store.engine.db, {}, 5);
    const audited = entries.filter(({ action }) => action.startsWith("tax."));
    expect(audited.map(({ action, subject, before, after }) => [action, subject, before, after])).toEqual([
      ["tax.remove", "internet VAT", '{"share":"15","from":"2026-12-01"}', undefined],
      ["tax.add", "tv TSC", undefined, '{"share":"0","from":"2026-12-01"}'],
      ["tax.add", "internet VAT", '{"share":"14.3"}', '{"share":"15","from":"2026-12-01"}'],
      ["tax.add", "internet VAT", '{"share":"13"}', '{"share":"14.3","from":"2026-12-01"}'],
      ["tax.add", "internet VAT", undefined, '{"share":"13","from":"2026-11-21"}'],
    ]);
  });

  test("settlement, statement and export agree on base and taxes, of reversals as on the day of the top-up", async () => {
    const opened = await openTaxed(makeDatabase);
    const untaxed = await opened.topUp(SITA_NET, "NET-1M");
    await opened.add("TSC", "10", "2026-11-21");
    await opened.add("VAT", "14.3", "2026-11-21");
    await opened.add("VAT", "13", "2026-11-22");
    opened.now += DAY_MS;
    const made = [];
    for (let count = 0; count < 7; count += 1) made.push(await opened.topUp(RAM_NET, "NET-1M"));
    await opened.topUp(RAM_NET, "NET-3M");
    await opened.topUp(SITA_TV, "TV-1M");
    opened.now += DAY_MS;
    await opened.topUp(RAM_NET, "NET-1M");
    for (const { checkoutId } of [untaxed, made[0] as typeof untaxed]) await opened.reverse(checkoutId);

    const sums = new Map<string, bigint>();
    const add = (name: string, amount: bigint) => sums.set(name, (sums.get(name) ?? 0n) + amount);
    for await (const rows of await run(opened.desk(), exportTransactions, { environment: "production" }))
      for (const { base, taxes } of rows.filter(({ status }) => status === "success")) {
        add("base", minor(base));
        for (const { name, amount } of taxes) add(name, minor(amount));
      }
    const { total, lines, byPartner } = await opened.settle("bouquet");
    const totalOf = ({ base, taxes }: { base: string | null; taxes: typeof total.taxes | null }) =>
      new Map([["base", minor(base)], ...(taxes ?? []).map(({ name, amount }) => [name, minor(amount)] as const)]);
    expect(totalOf(total)).toEqual(sums);
    expect([...sums.values()].reduce((a, b) => a + b)).toBe(minor(total.gross) - minor(total.reversed));
    // A part of seven top-ups is seven times the rounded part of one, not the rounded part of their sum.
    expect(lines.find(({ topUps }) => topUps === 7)).toMatchObject({
      base: "6363.63",
      taxes: [
        { name: "TSC", amount: "636.37" },
        { name: "VAT", amount: "910.00" },
      ],
    });
    expect(byPartner.map(totalOf)).toEqual([sums]);
    expect(totalOf((await opened.settle("day")).total)).toEqual(sums);

    const entries = new Map<string, bigint>();
    const input = { name: "wallet", month: "2026-11" } as const;
    for await (const rows of await run(opened.desk(), exportStatement, input))
      for (const { kind, base, taxes } of rows)
        for (const [name, amount] of totalOf({ base, taxes }))
          entries.set(name, (entries.get(name) ?? 0n) + (kind === "reversal" ? -amount : amount));
    expect(entries).toEqual(sums);
    expect(settlementTable(await opened.settle("day")).out).toMatch(/TAXES\n.*TSC [0-9.]+; VAT [0-9.]+\n/s);
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("past days keep base and taxes when their top-ups are pruned, and when a first tax begins later", async () => {
    const opened = await openTaxed(makeDatabase);
    await opened.add("VAT", "13", "2026-11-21");
    const [untaxed, box] = [await opened.topUp(SITA_NET, "NET-1M"), await opened.topUp(SITA_TV, "TV-1M")];
    opened.now += DAY_MS;
    const first = await opened.topUp(RAM_NET, "NET-1M");
    await opened.topUp(RAM_NET, "NET-1M");
    await opened.topUp(SITA_TV, "TV-1M");
    opened.now += DAY_MS;
    for (const { checkoutId } of [untaxed, box, first]) await opened.reverse(checkoutId);
    const settled = async () => ({ ...(await opened.settle("service")), open: undefined });
    const before = await settled();
    expect(before.total).toMatchObject({ base: "1450.00", taxes: [{ name: "VAT", amount: "130.00" }] });
    expect(await findWrong(opened.store)).toEqual([]);
    opened.now += 400 * DAY_MS;
    for (const [connection, code] of [[RAM_NET, "NET-1M"] as const, [SITA_TV, "TV-1M"] as const])
      await opened.topUp(connection, code);
    await moveHorizon(opened, opened.now - 200 * DAY_MS);
    const { topUps } = await pruneHistory(opened, opened.now - 200 * DAY_MS);
    expect(topUps).toBeGreaterThan(3);
    expect(await settled()).toEqual(before);
    const tomorrow = opened.store.provider.zone.wallTime(opened.now + DAY_MS).slice(0, 10);
    await opened.add("VAT", "13", tomorrow, "tv");
    await opened.add("VAT", "20", tomorrow);
    expect(await settled()).toEqual(before);
    expect(await findWrong(opened.store)).toEqual([]);
  });
}

async function openTaxed(makeDatabase: MakeDatabase) {
  const opened: OpenedProvider = await openProvider(makeDatabase);
  return Object.assign(opened, {
    add: (name: string, share: string, from: string, service: "internet" | "tv" = "internet") =>
      run(opened.desk(), addTax, { name, share, from, service }),
    settle: (detail: "bouquet" | "service" | "day") =>
      run(opened.desk(), reportSettlement, { ...PERIOD, environment: "production", detail }),
  });
}
