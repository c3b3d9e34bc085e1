import { expect, test } from "vitest";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import { RECORDING_DEADLINE_MS, type SettledTopUp } from "../../src/domain/top-up.ts";
import type { Transaction } from "../../src/domain/transaction.ts";
import { addTarget } from "../../src/office/targets/operations.ts";
import { StoreContended, StoreUnavailable } from "../../src/store/errors.ts";
import { eventsAfter } from "../../src/store/events.ts";
import type { Store } from "../../src/store/store.ts";
import { run } from "../support/desk.ts";
import { plain } from "./customers.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import {
  endOf,
  expectRecorded,
  FAMILY,
  FIBER,
  GITA_NET,
  HARI_TV,
  ledgersOf,
  type OpenedProvider,
  openProvider,
  RAM_NET,
  RAM_TV,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

/** Batches settle top-ups of one turn together, in order of arrival. */
export function testBatches(makeDatabase: MakeDatabase): void {
  test("an add-on that comes right after its base is bought, and one right before it is not", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const early = command(RAM_TV, "KIDS-1M");
    const late = command(RAM_TV, "KIDS-1M");
    const outcomes = await Promise.all([early, command(RAM_TV, "TV-1M"), late].map((each) => store.settleTopUp(each)));
    expect(outcomes[0]).toEqual({ kind: "refused", refusal: "bouquet_unavailable" });
    expectRecorded(outcomes[1]);
    expectRecorded(outcomes[2]);
  });

  test("first and further top-ups of several customers that come together are recorded and told in order", async () => {
    const { store, command, desk } = await openProvider(makeDatabase);
    await run(desk(), addTarget, { name: "billing" });
    const buy = (...purchases: (readonly [ConnectionKey, string])[]) =>
      Promise.all(
        purchases.map(async ([connection, code], index) => {
          const udfs = {
            udf1: index % 2 === 0 ? undefined : `{"${index}", \\}`,
            udf2: index === 2 ? "NULL" : undefined,
          };
          return expectRecorded(await store.settleTopUp(command(connection, code, udfs)));
        }),
      );
    const transactions = [
      ...(await buy(
        [SITA_NET, "NET-1M"],
        [RAM_TV, "TV-1M"],
        [RAM_TV, "KIDS-1M"],
        [SITA_TV, "KIDS-1M"],
        [RAM_TV, "KIDS-1M"],
        [SITA_NET, "NET-3M"],
        [RAM_NET, "NET-1M"],
      )),
      ...(await buy([RAM_TV, "KIDS-1M"], [RAM_TV, "TV-3M"], [SITA_NET, "NET-1M"])),
    ];
    expect(await Promise.all(transactions.map(({ checkoutId }) => store.findTransaction(checkoutId)))).toEqual(
      transactions,
    );
    const told = await eventsAfter(store.engine.db, 0, 100);
    expect(told.map((event) => "topUp" in event && event.topUp?.txnId)).toEqual(transactions.map(({ txnId }) => txnId));
    const kids = (await ledgersOf(store, RAM_TV)).find(({ plan }) => plan.startsWith("Kids"));
    expect(kids?.entries.map(({ seq, after }) => [seq, after?.end])).toEqual([
      [1, "2026-12-20 09:00:00"],
      [2, "2027-01-20 09:00:00"],
      [3, "2027-02-20 09:00:00"],
    ]);
    expect(await endOf(store, RAM_TV, "Kids [AddOn]")).toBe("2027-02-20 09:00:00");
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-05-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("one that is refused does not touch the others", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const commands = [
      command(SITA_NET, "NET-1M"),
      command(HARI_TV, "TV-1M"),
      command(RAM_NET, "NET-1M"),
      command(GITA_NET, "NET-1M"),
      command(SITA_TV, "TV-1M"),
    ];
    const outcomes = await Promise.all(commands.map((each) => store.settleTopUp(each)));
    const kinds = ["recorded", "refused", "recorded", "refused", "recorded"];
    expect(outcomes.map(({ kind }) => kind)).toEqual(kinds);
    expect(await findWrong(store)).toEqual([]);
  });

  test("one that the database itself refuses fails alone", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const spoilt = { partnerId: null as unknown as number };
    const commands = [
      command(SITA_NET, "NET-1M"),
      command(SITA_TV, "TV-1M", spoilt),
      command(RAM_NET, "NET-1M"),
      command(SITA_NET, "NET-1M", spoilt),
      command(SITA_NET, "NET-1M"),
    ];
    const settled = await Promise.allSettled(commands.map((each) => store.settleTopUp(each)));
    const statuses = ["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"];
    expect(settled.map(({ status }) => status)).toEqual(statuses);
    const recorded = await Promise.all(commands.map(({ checkoutId }) => store.findTransaction(checkoutId)));
    expect(recorded.map((each) => each !== undefined)).toEqual([true, false, true, false, true]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-02-10 09:00:00");
    expect(await endOf(store, SITA_TV, FAMILY)).toBe("2026-12-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("of two that come together with one checkout and different amounts, the right one is recorded", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const right = command(SITA_NET, "NET-1M");
    const wrong = { ...right, amount: 1n };
    const outcomes = await Promise.all([wrong, right, wrong].map((each) => store.settleTopUp(each)));
    expect(outcomes[0]).toEqual({ kind: "refused", refusal: "amount_mismatch" });
    expectRecorded(outcomes[1]);
    expect(outcomes[2]).toEqual({ kind: "refused", refusal: "checkout_used" });
  });

  test("more than one batch holds are all settled, in order", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const commands = Array.from({ length: 700 }, () => command(SITA_NET, "NET-1M"));
    const outcomes = await Promise.all(commands.map((each) => store.settleTopUp(each)));
    expect(await topUpsOf(store)).toEqual(outcomes.map((outcome) => expectRecorded(outcome).txnId));
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2085-04-10 09:00:00");
  });

  test("a thousand may wait, and who comes then is turned away at once", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const sent = command(SITA_NET, "NET-1M");
    const waiting = Array.from({ length: 1_000 }, () => store.settleTopUp(sent));
    await expect(store.settleTopUp(command(SITA_NET, "NET-1M"))).rejects.toBeInstanceOf(StoreContended);
    const kinds = (await Promise.all(waiting)).map(({ kind }) => kind);
    expect(kinds[0]).toBe("recorded");
    expect(new Set(kinds.slice(1))).toEqual(new Set(["replayed"]));
    expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
  });

  test("closing waits for running batches", async () => {
    const opened = await openProvider(makeDatabase);
    const commands = Array.from({ length: 20 }, () => opened.command(SITA_NET, "NET-1M"));
    const settled = Promise.all(commands.map((each) => opened.store.settleTopUp(each)));
    await opened.store.close();
    for (const outcome of await settled) expectRecorded(outcome);
    expect(await endOf(await opened.another(), SITA_NET, FIBER)).toBe("2028-08-10 09:00:00");
  });

  test("an observer hears of each batch, and of one that an item spoils, of each item by itself", async () => {
    const heard: [items: number, committed: boolean][] = [];
    const observeBatch = (items: number) => (committed: boolean) => {
      heard.push([items, committed]);
    };
    const { store, command } = await openProvider(makeDatabase, { observeBatch });
    const together = [command(SITA_NET, "NET-1M"), command(SITA_TV, "TV-1M"), command(RAM_NET, "NET-1M")];
    for (const outcome of await Promise.all(together.map((each) => store.settleTopUp(each)))) expectRecorded(outcome);
    expect(heard.splice(0)).toEqual([[3, true]]);
    const spoilt = command(SITA_TV, "TV-1M", { partnerId: null as unknown as number });
    const commands = [command(SITA_NET, "NET-1M"), spoilt];
    await Promise.allSettled(commands.map((each) => store.settleTopUp(each)));
    expect(heard).toEqual([
      [2, false],
      [1, true],
      [1, false],
    ]);
  });

  test("a top-up that took longer to record than the deadline is not recorded, and just as long it is", async () => {
    const opened = await openProvider(makeDatabase);
    const commands = [opened.command(SITA_NET, "NET-1M"), opened.command(SITA_NET, "NET-1M")] as const;
    const slow = await storeThatTakes(opened, RECORDING_DEADLINE_MS + 1);
    for (const settled of commands.map((command) => slow.settleTopUp(command)))
      await expect(settled).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await countRows(opened, "top_up")).toBe(0);
    expectRecorded(await (await storeThatTakes(opened, RECORDING_DEADLINE_MS)).settleTopUp(commands[0]));
  });

  test("two stores with the same checkouts at once make one transaction of each", async () => {
    const opened = await openProvider(makeDatabase);
    const stores = [opened.store, await opened.another()] as const;
    const commands = Array.from({ length: 20 }, () => opened.command(SITA_NET, "NET-1M"));
    const races = commands.map((command) =>
      Promise.all([0, 1, 0, 1].map((side, index) => stores[side as 0 | 1].settleTopUp(sentAgain(command, index)))),
    );
    for (const outcomes of await Promise.all(races)) expectOneTransaction(outcomes);
    expect(await countRows(opened, "top_up")).toBe(20);
    expect(await endOf(stores[1], SITA_NET, FIBER)).toBe("2028-08-10 09:00:00");
    expect(await findWrong(stores[0])).toEqual([]);
  });

  test("a checkout raced with different bouquets buys one of them", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const month = opened.command(SITA_NET, "NET-1M");
    const quarter = { ...opened.command(SITA_NET, "NET-3M"), checkoutId: month.checkoutId, checkout: month.checkout };
    const outcomes = await Promise.all([opened.store.settleTopUp(month), other.settleTopUp(quarter)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["recorded", "refused"]);
    expect(await countRows(opened, "top_up")).toBe(1);
  });

  test("top-ups of many customers through two stores at once are all recorded", async () => {
    const opened = await openProvider(makeDatabase);
    const stores = [opened.store, await opened.another()] as const;
    const connections = Array.from({ length: 100 }, (_, index) => ({
      ...SITA_NET,
      cuid: `30${index}`,
      reqId: `u${index}`,
    }));
    await opened.restate(
      ...connections.map(({ cuid, reqId }) =>
        plain(cuid, { connections: { internet: [{ username: reqId, status: "active" }] } }),
      ),
    );
    const settled = connections.flatMap((connection) =>
      stores.map((store) => store.settleTopUp(opened.command(connection, "NET-1M"))),
    );
    for (const outcome of await Promise.all(settled)) expectRecorded(outcome);
    for (const connection of [connections[0], connections[99]])
      expect(await endOf(opened.store, connection ?? SITA_NET, FIBER)).toBe("2027-01-20 09:00:01");
    expect(await findWrong(opened.store)).toEqual([]);
  });
}

/** The txnIds of Sita's, in the order of the ledger. */
async function topUpsOf(store: Store): Promise<string[]> {
  const ledgers = await ledgersOf(store, SITA_NET);
  return ledgers.flatMap(({ entries }) => entries.flatMap((entry) => (entry.kind === "top_up" ? [entry.txnId] : [])));
}

/** A repeated top-up: it has its own txnId. */
function sentAgain<Command extends { readonly txnDigits: string }>(command: Command, nth: number): Command {
  return { ...command, txnDigits: `AGN${String(nth).padStart(4, "0")}${command.txnDigits.slice(7)}` };
}

/** A store whose clock moves by this much at each reading. */
async function storeThatTakes(opened: OpenedProvider, ms: number): Promise<Store> {
  let looks = 0;
  const clock = () => {
    looks += 1;
    return opened.now + (looks - 1) * ms;
  };
  const store = await opened.another({ clock });
  looks = 0;
  return store;
}

/** One call recorded the top-up, and all got the same transaction. */
function expectOneTransaction(outcomes: readonly SettledTopUp[]): void {
  const transactions = outcomes.map((outcome): Transaction | undefined =>
    outcome.kind === "refused" ? undefined : outcome.transaction,
  );
  expect(outcomes.filter(({ kind }) => kind === "recorded")).toHaveLength(1);
  for (const transaction of transactions) expect(transaction).toEqual(transactions[0]);
}
