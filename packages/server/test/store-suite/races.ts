import { expect, test } from "vitest";
import type { SettledTopUp, Transaction } from "../../src/domain/top-up.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import { anotherTxnId, endOf, openProvider, RAM_NET, restate, SITA_NET, SITA_TV } from "./provider.ts";

const FIBER = "Fiber 100 Mbps";

export function testRaces(makeDatabase: MakeDatabase): void {
  test.each([20, 200])("%i at once on one checkout make one transaction, and all learn of it", async (times) => {
    const opened = await openProvider(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    const attempts = Array.from({ length: times }, (_, index) => ({
      ...command,
      txnId: anotherTxnId(command.txnId, index),
    }));
    const outcomes = await Promise.all(attempts.map((attempt) => opened.store.settleTopUp(attempt)));
    expectOneTransaction(outcomes);
    expect(await countRows(opened, "top_up")).toBe(1);
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("two stores with the same checkouts at once make one transaction of each", async () => {
    const opened = await openProvider(makeDatabase);
    const stores = [opened.store, await opened.another()] as const;
    const commands = Array.from({ length: 20 }, () => opened.command(SITA_NET, "NET-1M"));
    const races = commands.map((command) =>
      Promise.all(
        [0, 1, 0, 1].map((side, index) =>
          stores[side as 0 | 1].settleTopUp({ ...command, txnId: anotherTxnId(command.txnId, index) }),
        ),
      ),
    );
    for (const outcomes of await Promise.all(races)) expectOneTransaction(outcomes);
    expect(await countRows(opened, "top_up")).toBe(20);
    expect(await endOf(stores[1], SITA_NET, FIBER)).toBe("2028-08-10 09:00:00");
    expect(await findWrong(stores[0])).toEqual([]);
  });

  test("two stores with different checkouts for one connection lose none of them", async () => {
    const opened = await openProvider(makeDatabase);
    const stores = [opened.store, await opened.another()] as const;
    for (let round = 0; round < 10; round += 1) {
      const commands = Array.from({ length: 6 }, () => opened.command(RAM_NET, "NET-1M"));
      const outcomes = await Promise.all(
        commands.map((command, index) => stores[(index % 2) as 0 | 1].settleTopUp(command)),
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 6 }, () => "recorded"));
    }
    expect(await endOf(stores[0], RAM_NET, FIBER)).toBe("2031-11-20 09:00:00");
    expect(await findWrong(stores[1])).toEqual([]);
  });

  test("a checkout raced with different bouquets buys one of them", async () => {
    const opened = await openProvider(makeDatabase);
    const stores = [opened.store, await opened.another()] as const;
    const month = opened.command(SITA_NET, "NET-1M");
    const quarter = { ...opened.command(SITA_NET, "NET-3M"), checkoutId: month.checkoutId, checkout: month.checkout };
    const outcomes = await Promise.all([stores[0].settleTopUp(month), stores[1].settleTopUp(quarter)]);
    expect(outcomes.filter(({ kind }) => kind === "recorded")).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === "refused")).toEqual([{ kind: "refused", refusal: "checkout_used" }]);
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  test("top-ups of many customers through two stores at once are all recorded", async () => {
    const opened = await openProvider(makeDatabase);
    const stores = [opened.store, await opened.another()] as const;
    const customers = Array.from({ length: 100 }, (_, index) => ({
      cuid: `30${index}`,
      first_name: "A",
      last_name: "B",
      status: "active",
      connections: { internet: [{ username: `user${index}`, status: "active" }] },
    }));
    await restate(opened.store, opened.now, ...customers);
    const outcomes = await Promise.all(
      customers.flatMap(({ cuid }, index) => {
        const connection = { ...SITA_NET, cuid, reqId: `user${index}` };
        return stores.map((store) => store.settleTopUp(opened.command(connection, "NET-1M")));
      }),
    );
    expect(outcomes.filter(({ kind }) => kind === "recorded")).toHaveLength(200);
    for (const index of [0, 99]) {
      const connection = { ...SITA_NET, cuid: `30${index}`, reqId: `user${index}` };
      expect(await endOf(opened.store, connection, FIBER)).toBe("2027-01-20 09:00:00");
    }
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("a race for the last moment of blocking leaves either a whole top-up or none", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const command = opened.command(SITA_TV, "TV-1M");
    const blocked = {
      cuid: "2000001",
      first_name: "Sita",
      last_name: "Rai",
      status: "active",
      connections: { tv: [{ stb: SITA_TV.reqId, status: "blocked" }] },
    };
    const [outcome] = await Promise.all([opened.store.settleTopUp(command), restate(other, opened.now, blocked)]);
    const recorded = await other.findTransaction(command.checkoutId);
    expect(recorded).toEqual(outcome.kind === "recorded" ? outcome.transaction : undefined);
    expect(await opened.store.settleTopUp(opened.command(SITA_TV, "TV-1M"))).toEqual({
      kind: "refused",
      refusal: "connection_blocked",
    });
    expect(await findWrong(other)).toEqual([]);
  });
}

/** One recorded it, and everybody was told the very same transaction. */
function expectOneTransaction(outcomes: readonly SettledTopUp[]): void {
  const transactions = outcomes.map((outcome): Transaction | undefined =>
    outcome.kind === "refused" ? undefined : outcome.transaction,
  );
  expect(outcomes.filter(({ kind }) => kind === "recorded")).toHaveLength(1);
  expect(outcomes.filter(({ kind }) => kind === "replayed")).toHaveLength(outcomes.length - 1);
  for (const transaction of transactions) expect(transaction).toEqual(transactions[0]);
}
