import { expect, test } from "vitest";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { by } from "../support/by.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import {
  endOf,
  expectRecorded,
  HARI_TV,
  type OpenedProvider,
  openProvider,
  RAM_NET,
  restate,
  reversalOf,
  SITA,
  SITA_IPTV,
  SITA_NET,
  SITA_TV,
  statedCustomer,
} from "./provider.ts";

const FIBER = "Fiber 100 Mbps";
const DAY = 86_400_000;

function because(at: number, reason = "paid twice") {
  return { ...by(at), reason };
}

async function topUp({ store }: OpenedProvider, command: TopUpCommand): Promise<TopUpCommand> {
  expectRecorded(await store.settleTopUp(command));
  return command;
}

export function testCorrections(makeDatabase: MakeDatabase): void {
  test("a reversal takes back exactly one top-up, and partners see it as reversed", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const wrong = await topUp(opened, opened.command(SITA_NET, "NET-3M"));
    const right = await topUp(opened, opened.command(SITA_NET, "NET-1M"));
    const outcome = await store.corrections.reverse(wrong.checkoutId, because(opened.now));
    expect(outcome).toMatchObject({ kind: "reversed", plan: FIBER, transaction: { status: "reversed" } });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-10 09:00:00");
    expect(await store.findTransaction(wrong.checkoutId)).toMatchObject({ status: "reversed", amount: wrong.amount });
    expect(await store.findTransaction(right.checkoutId)).toMatchObject({ status: "success" });
    expect(await reversalOf(store, wrong.checkoutId)).toEqual(because(opened.now));
    expect(await reversalOf(store, right.checkoutId)).toBeUndefined();
    expect(await findWrong(store)).toEqual([]);
  });

  test("no correction is recorded half a minute after its time: the report of its day was final by then", async () => {
    const opened = await openProvider(makeDatabase);
    const { corrections } = opened.store;
    const { checkoutId } = await topUp(opened, opened.command(SITA_NET, "NET-3M"));
    const days = { ...SITA_NET, days: 2, plan: FIBER };
    await corrections.grantGoodwill(days, because(opened.now));
    const tables = ["reversal", "audit_entry"];
    const count = () => Promise.all(tables.map((table) => countRows(opened, table)));
    const before = await count();
    const decidedAt = opened.now;
    opened.now += 30_001;
    for (const late of [
      () => corrections.reverse(checkoutId, because(decidedAt)),
      () => corrections.grantGoodwill(days, because(decidedAt)),
      () => corrections.takeBackGoodwill(days, because(decidedAt)),
    ])
      await expect(late()).rejects.toThrow("the correction took too long, and was not made: make it again");
    expect(await count()).toEqual(before);
    opened.now -= 10_000;
    expect(await corrections.reverse(checkoutId, because(decidedAt))).toMatchObject({ kind: "reversed" });
  });

  test("a top-up is reversed once, however many ask for it at a time", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const { checkoutId } = await topUp(opened, opened.command(SITA_NET, "NET-3M"));
    const asked = [opened.store, other, opened.store, other].map((store) =>
      store.corrections.reverse(checkoutId, because(opened.now)),
    );
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(["already_reversed", "already_reversed", "already_reversed", "reversed"]);
    expect(await countRows(opened, "reversal")).toBe(1);
    expect(await endOf(other, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    expect(await findWrong(other)).toEqual([]);
  });

  test("a checkout whose top-up was reversed gives the reversed one for ever, and buys nothing more", async () => {
    const opened = await openProvider(makeDatabase);
    const command = await topUp(opened, opened.command(SITA_NET, "NET-3M"));
    await opened.store.corrections.reverse(command.checkoutId, because(opened.now));
    const again = await opened.store.settleTopUp(command);
    expect(again).toMatchObject({ kind: "replayed", transaction: { status: "reversed" } });
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
  });

  test("top-ups and reversals of one customer at a time all count, in some order", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const wrong = await Promise.all(Array.from({ length: 4 }, () => topUp(opened, opened.command(SITA_NET, "NET-3M"))));
    const right = Array.from({ length: 4 }, () => opened.command(SITA_NET, "NET-1M"));
    await Promise.all([
      ...wrong.map(({ checkoutId }, index) =>
        (index % 2 === 0 ? opened.store : other).corrections.reverse(checkoutId, because(opened.now)),
      ),
      ...right.map((command, index) => (index % 2 === 0 ? other : opened.store).settleTopUp(command)),
    ]);
    expect(await endOf(opened.store, SITA_NET, FIBER)).toBe("2027-04-10 09:00:00");
    expect(await findWrong(opened.store)).toEqual([]);
  });

  test("nothing is reversed that is not on record, and nothing is left behind", async () => {
    const opened = await openProvider(makeDatabase);
    const { checkoutId } = opened.quote(SITA_NET);
    for (const unknown of [checkoutId, "x", ""])
      expect(await opened.store.corrections.reverse(unknown, because(opened.now))).toEqual({ kind: "not_found" });
    expect(await countRows(opened, "reversal")).toBe(0);
  });

  test("with its only top-up taken back, a connection that was imported as inactive is so again", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const first = await topUp(opened, opened.command(RAM_NET, "NET-1M"));
    const second = await topUp(opened, opened.command(RAM_NET, "NET-1M"));
    const isToppedUp = async () => (await store.findConnection(RAM_NET))?.connection?.toppedUp;
    await store.corrections.reverse(first.checkoutId, because(opened.now));
    expect(await isToppedUp()).toBe(true);
    await store.corrections.reverse(second.checkoutId, because(opened.now));
    expect(await isToppedUp()).toBe(false);
    expect(await endOf(store, RAM_NET, FIBER)).toBe("2026-11-01 09:00:00");
  });

  test("what was reversed does not come back by an import, be it a copy that was taken before", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const { checkoutId } = await topUp(opened, opened.command(SITA_NET, "NET-3M"));
    const copied = SITA.connections.internet.map((connection) => ({
      ...connection,
      subscriptions: [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2027-03-10 09:00:00" }],
    }));
    await store.corrections.reverse(checkoutId, because(opened.now));
    await restate(store, opened.now + DAY, { ...SITA, connections: { ...SITA.connections, internet: copied } });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    await restate(store, opened.now + 2 * DAY, SITA);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test.each(["apart", "unsaid"] as const)(
    "a reversal takes no other top-up with it, whatever was stated (%s)",
    async (mode) => {
      const opened = await openProvider(makeDatabase);
      const { store } = opened;
      const { checkoutId } = await topUp(opened, opened.command(SITA_NET, "NET-3M"));
      opened.now = Date.parse("2027-03-05T09:00:00Z");
      await topUp(opened, opened.command(SITA_NET, "NET-1M"));
      opened.now += DAY;
      const stated = statedCustomer({
        ...SITA,
        connections: {
          internet: [
            {
              username: "sita",
              status: "active",
              subscriptions: [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2026-12-11 09:00:00" }],
            },
          ],
        },
      });
      await store.importCustomers("production", [stated], by(opened.now), mode);
      await store.corrections.reverse(checkoutId, because(opened.now));
      expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-04-05 09:00:00");
      await store.importCustomers("production", [stated], by(opened.now + DAY), mode);
      expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-04-05 09:00:00");
      expect(await findWrong(store)).toEqual([]);
    },
  );

  test("a top-up of a connection that is gone is reversed all the same", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const { checkoutId } = await topUp(opened, opened.command(SITA_NET, "NET-1M"));
    opened.now += 90 * DAY;
    await restate(store, opened.now, { ...SITA, connections: { tv: SITA.connections.tv } });
    expect((await store.findConnection(SITA_NET))?.connection).toBeUndefined();
    expect(await store.corrections.reverse(checkoutId, because(opened.now))).toMatchObject({ kind: "reversed" });
    expect(await findWrong(store)).toEqual([]);
  });

  test("goodwill days go on from the end, and no import takes them back", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const grant = (days: number, plan?: string) =>
      store.corrections.grantGoodwill({ ...SITA_NET, days, plan }, because(opened.now, "outage"));
    expect(await grant(3)).toMatchObject({ kind: "granted", plan: FIBER });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-13 09:00:00");
    await restate(store, opened.now + DAY, SITA);
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-13 09:00:00");
    expect(await grant(1, "Fiber 200 Mbps")).toEqual({ kind: "no_subscription", plans: [FIBER] });
    expect(await grant(9_000_000)).toEqual({ kind: "too_long" });
    expect(await findWrong(store)).toEqual([]);
  });

  test("goodwill days given by mistake are taken back, and no import brings them again", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const { checkoutId } = await topUp(opened, opened.command(SITA_NET, "NET-1M"));
    const asked = { ...SITA_NET, plan: undefined };
    await store.corrections.grantGoodwill({ ...asked, days: 365 }, because(opened.now, "outage"));
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2028-01-10 09:00:00");
    const takeBack = (days: number) =>
      store.corrections.takeBackGoodwill({ ...asked, days }, because(opened.now, "3 were meant"));
    expect(await takeBack(366)).toEqual({ kind: "too_many", plan: FIBER, most: 365, limit: "given" });
    expect(await takeBack(362)).toMatchObject({ kind: "taken_back", plan: FIBER });
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-13 09:00:00");
    for (const mode of ["apart", "unsaid"] as const) {
      await store.importCustomers("production", [statedCustomer(SITA)], by(opened.now + DAY), mode);
      expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-01-13 09:00:00");
    }
    expect((await store.search.findLedgers(SITA_NET))[0]?.entries.at(-1)).toMatchObject({
      grant: { kind: "take_back", days: 362, bouquet: { code: "NET-1M" } },
    });
    await store.corrections.reverse(checkoutId, because(opened.now));
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2026-12-13 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("goodwill days are taken back once, however many ask for it at a time", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const asked = { ...SITA_NET, days: 10, plan: undefined };
    await opened.store.corrections.grantGoodwill(asked, because(opened.now));
    const answers = [opened.store, other, opened.store, other].map((store) =>
      store.corrections.takeBackGoodwill(asked, because(opened.now)),
    );
    const kinds = (await Promise.all(answers)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(["taken_back", "too_many", "too_many", "too_many"]);
    expect(await endOf(other, SITA_NET, FIBER)).toBe("2026-12-10 09:00:00");
    expect(await findWrong(other)).toEqual([]);
  });

  test("goodwill days revive a subscription that has lapsed, and with it the connection", async () => {
    const opened = await openProvider(makeDatabase);
    const given = { ...RAM_NET, days: 2, plan: undefined };
    await opened.store.corrections.grantGoodwill(given, because(opened.now, "sorry"));
    expect(await endOf(opened.store, RAM_NET, FIBER)).toBe("2026-11-22 09:00:00");
    expect((await opened.store.findConnection(RAM_NET))?.connection).toMatchObject({ toppedUp: true });
  });

  test("goodwill days stay on top of records that hold the top-ups", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    await topUp(opened, opened.command(SITA_NET, "NET-1M"));
    await store.corrections.grantGoodwill({ ...SITA_NET, days: 5, plan: undefined }, because(opened.now));
    const internet = SITA.connections.internet.map((connection) => ({
      ...connection,
      subscriptions: [{ code: "NET-1M", startdate: "2026-11-10 09:00:00", enddate: "2027-02-10 09:00:00" }],
    }));
    const stated = statedCustomer({ ...SITA, connections: { ...SITA.connections, internet } });
    await store.importCustomers("production", [stated], by(opened.now + DAY), "included");
    expect(await endOf(store, SITA_NET, FIBER)).toBe("2027-02-15 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("goodwill mends a reversal that was a mistake, where nothing was left", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const { checkoutId } = await topUp(opened, opened.command(SITA_IPTV, "ITV-1M"));
    await store.corrections.reverse(checkoutId, because(opened.now));
    expect((await store.findConnection(SITA_IPTV))?.connection?.subscriptions).toEqual([]);
    const given = { ...SITA_IPTV, days: 30, plan: undefined };
    expect(await store.corrections.grantGoodwill(given, because(opened.now, "our mistake"))).toMatchObject({
      kind: "granted",
      plan: "IPTV",
      after: { bouquet: { code: "ITV-1M" } },
    });
    expect(await endOf(store, SITA_IPTV, "IPTV")).toBe("2026-12-20 09:00:00");
    expect(await findWrong(store)).toEqual([]);
  });

  test("goodwill goes to a base subscription, and asks where there are several", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    await topUp(opened, opened.command(SITA_TV, "KIDS-1M"));
    const given = { ...SITA_TV, days: 2, plan: undefined };
    expect(await store.corrections.grantGoodwill(given, because(opened.now))).toMatchObject({ plan: "Family TV" });
    await topUp(opened, opened.command({ ...SITA_TV }, "TV-1M"));
    const unknown = { ...SITA_TV, reqId: "no-such", days: 2, plan: undefined };
    expect(await store.corrections.grantGoodwill(unknown, because(opened.now))).toEqual({ kind: "not_found" });
  });

  test("a block holds against imports, is lifted by staff alone, and does not touch what is granted", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const set = (blocked: boolean) => store.corrections.setBlocked(SITA_NET, blocked, because(opened.now, "stolen"));
    expect(await set(true)).toMatchObject({ kind: "done", blocked: true });
    await restate(store, opened.now + DAY, SITA);
    expect(await store.settleTopUp(opened.command(SITA_NET, "NET-1M"))).toMatchObject({
      kind: "refused",
      refusal: "connection_blocked",
    });
    expect(await set(true)).toMatchObject({ kind: "done", audited: undefined });
    expect(await set(false)).toMatchObject({ kind: "done", blocked: false });
    expectRecorded(await store.settleTopUp(opened.command(SITA_NET, "NET-1M")));
  });

  test("a block holds also where an import leaves the connection out, and names it again", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    await store.corrections.setBlocked(SITA_NET, true, because(opened.now, "stolen"));
    await restate(store, opened.now + DAY, { ...SITA, connections: { tv: SITA.connections.tv } });
    expect((await store.findConnection(SITA_NET))?.connection).toMatchObject({ blocked: true });
    await restate(store, opened.now + 2 * DAY, SITA);
    expect((await store.findConnection(SITA_NET))?.connection).toMatchObject({ blocked: true });
  });

  test("a block by the provider's records is theirs to lift", async () => {
    const opened = await openProvider(makeDatabase);
    const by = because(opened.now);
    expect(await opened.store.corrections.setBlocked(HARI_TV, false, by)).toEqual({ kind: "blocked_by_records" });
    expect(await opened.store.corrections.setBlocked({ ...HARI_TV, reqId: "x" }, true, by)).toEqual({
      kind: "not_found",
    });
  });
}
