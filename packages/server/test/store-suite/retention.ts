import { expect, test } from "vitest";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import { pruneHistory } from "../../src/operations/prune-history.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import {
  endOf,
  expectRecorded,
  type OpenedProvider,
  openProvider,
  restate,
  SITA,
  SITA_IPTV,
  SITA_NET,
  statedCustomer,
} from "./provider.ts";

const IPTV = "IPTV";
const DAY = 86_400_000;

/** Lets everything go that may, from before so many days ago. */
export async function prune(opened: OpenedProvider, days: number, store: Store = opened.store, dryRun = false) {
  const ports = { store, clock: () => opened.now, random: () => new Uint8Array(), author: "maya" };
  // Most of these providers lie idle for long.
  const request = { before: opened.now - days * DAY, dryRun, reason: "books of 2019", isClockRight: true };
  const outcome = await pruneHistory(ports, request);
  if (outcome.kind !== "pruned") throw new Error(outcome.kind);
  return outcome.pruned;
}

/** A top-up every so many days, of which each begins a run of its own. */
async function topUpEvery(
  opened: OpenedProvider,
  days: number,
  times: number,
  key: ConnectionKey = SITA_IPTV,
): Promise<TopUpCommand[]> {
  const commands: TopUpCommand[] = [];
  for (let time = 0; time < times; time += 1) {
    const command = opened.command(key, "ITV-1M");
    expectRecorded(await opened.store.settleTopUp(command));
    commands.push(command);
    opened.now += days * DAY;
  }
  return commands;
}

export function testRetention(makeDatabase: MakeDatabase): void {
  test("a run that was carried over stays, with where it was granted to, under whatever was stated since", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const state = async (startdate: string, enddate: string, topUps: "included" | "unsaid", isCarried = false) => {
      const subscription = { code: "TV-1M", startdate, enddate };
      const [start, granted_until] = [startdate, enddate].map((date) => `${date.replace(" ", "T")}.000Z`);
      const carried = { start, months: 1, topped_up_months: 1, granted_until };
      const tv = [
        { stb: "0099", status: "active", subscriptions: [isCarried ? { ...subscription, carried } : subscription] },
      ];
      const customer = statedCustomer({ ...SITA, cuid: "77", mobile: "9811111111", connections: { tv } });
      await store.importCustomers("production", [customer], by(opened.now), topUps);
    };
    await state("2026-11-10 09:00:00", "2026-12-10 09:00:00", "unsaid", true);
    opened.now += DAY;
    await state("2026-11-11 09:00:00", "2026-12-20 09:00:00", "included");
    opened.now += 60 * DAY;
    const before = await countRows(opened, "subscription_grant");
    await prune(opened, 40);
    expect(await countRows(opened, "subscription_grant")).toBe(before);
    expect(await findWrong(store)).toEqual([]);
  });

  test("runs that were over before the last old one go with their top-ups, and no end moves", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const [first, second, third, fourth] = (await topUpEvery(opened, 100, 4)) as [
      TopUpCommand,
      TopUpCommand,
      TopUpCommand,
      TopUpCommand,
    ];
    const end = await endOf(store, SITA_IPTV, IPTV);
    const [before] = [opened.now - 150 * DAY];
    const wouldGo = await prune(opened, 150, store, true);
    expect(await countRows(opened, "top_up")).toBe(4);
    expect(await store.retention.prunedBefore()).toBeUndefined();
    const pruned = await prune(opened, 150);
    expect(pruned).toEqual(wouldGo);
    const sums = {
      environment: "production",
      partnerId: opened.partner.id,
      status: "success",
      amount: 30_000n,
      topUps: 1,
    };
    expect(pruned).toEqual({
      ...{ grants: 2, retiredCheckouts: 0 },
      topUps: [
        { ...sums, year: "2026" },
        { ...sums, year: "2027" },
      ],
    });
    expect(await store.retention.prunedBefore()).toBe(before);
    for (const gone of [first, second]) expect(await store.findTransaction(gone.checkoutId)).toBeUndefined();
    for (const kept of [third, fourth]) expect(await store.findTransaction(kept.checkoutId)).toBeDefined();
    expect(await endOf(store, SITA_IPTV, IPTV)).toBe(end);
    expect(await findWrong(store)).toEqual([]);
    expect(await prune(opened, 150)).toEqual({ grants: 0, retiredCheckouts: 0, topUps: [] });
  });

  test("of a checkout that may be gone nobody says that it was never used, and nothing is bought with it again", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const unused = opened.command(SITA_IPTV, "ITV-1M");
    const [first, second] = (await topUpEvery(opened, 100, 3)) as [TopUpCommand, TopUpCommand, TopUpCommand];
    await prune(opened, 150);
    const young = opened.command(SITA_IPTV, "ITV-1M");
    opened.now += DAY;
    const unknown = { kind: "refused", refusal: "checkout_unknown" };
    for (const reader of [store, await opened.another()]) {
      for (const each of [first, unused]) {
        expect(await reader.concludeCheckout(each.checkoutId)).toBe("pruned");
        expect(await reader.settleTopUp(each)).toEqual(unknown);
      }
      expect(await reader.settleTopUp(second)).toMatchObject({ kind: "replayed" });
      expect(await reader.concludeCheckout(young.checkoutId)).toBeUndefined();
      expect(await reader.settleTopUp(young)).toMatchObject({ refusal: "checkout_expired" });
    }
    expect(await countRows(opened, "retired_checkout")).toBe(1);
  });

  test("checkouts that were retired before go, and are unknown from then on", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const old = opened.command(SITA_NET, "NET-1M");
    opened.now += DAY;
    await store.concludeCheckout(old.checkoutId);
    opened.now += 100 * DAY;
    const young = opened.command(SITA_NET, "NET-1M");
    await store.concludeCheckout(young.checkoutId);
    expect(await prune(opened, 50)).toMatchObject({ retiredCheckouts: 1 });
    expect(await countRows(opened, "retired_checkout")).toBe(1);
    expect(await store.concludeCheckout(old.checkoutId)).toBe("pruned");
    expect(await store.concludeCheckout(young.checkoutId)).toBeUndefined();
  });

  test("a reversed top-up goes with its reversal, and one whose reversal is young stays", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const [first, second] = (await topUpEvery(opened, 100, 2)) as [TopUpCommand, TopUpCommand];
    await store.corrections.reverse(first.checkoutId, { ...by(opened.now), reason: "late" });
    await topUpEvery(opened, 100, 2);
    await restate(store, opened.now, {
      ...SITA,
      connections: { ...SITA.connections, iptv: [iptvUntil("2028-01-01 09:00:00")] },
    });
    opened.now += 10 * DAY;
    expect(await prune(opened, 220)).toMatchObject({ grants: 0 });
    expect(await countRows(opened, "reversal")).toBe(1);
    expect(await prune(opened, 50)).toMatchObject({
      topUps: [
        { status: "reversed", topUps: 1 },
        { status: "success", topUps: 2 },
      ],
    });
    expect(await countRows(opened, "reversal")).toBe(0);
    expect(await store.findTransaction(second.checkoutId)).toBeUndefined();
    expect(await findWrong(store)).toEqual([]);
  });

  test("what a pruned ledger begins with is not reversed any more, and all else is", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const [, opening, last] = (await topUpEvery(opened, 100, 3)) as [TopUpCommand, TopUpCommand, TopUpCommand];
    await prune(opened, 150);
    const reverse = ({ checkoutId }: TopUpCommand) =>
      store.corrections.reverse(checkoutId, { ...by(opened.now), reason: "paid twice" });
    expect(await reverse(opening)).toMatchObject({ kind: "history_gone" });
    expect(await store.findTransaction(opening.checkoutId)).toMatchObject({ status: "success" });
    expect(await reverse(last)).toMatchObject({ kind: "reversed", after: { start: opening.checkout.issuedAt } });
    expect(await findWrong(store)).toEqual([]);
  });

  test("the horizon never moves back, and the trail tells who moved it, and what went", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    await topUpEvery(opened, 100, 3);
    await prune(opened, 150);
    const horizon = opened.now - 150 * DAY;
    await prune(opened, 400);
    expect(await store.retention.prunedBefore()).toBe(horizon);
    const entries = await store.auditTrail.list({ action: "history.prune" }, 10);
    expect(entries.map(({ author, reason, subject }) => [author, reason, subject])).toEqual([
      ["maya", "books of 2019", "history"],
      ["maya", "books of 2019", "horizon"],
    ]);
    expect(JSON.parse(entries[1]?.after ?? "")).toEqual({ prunedBefore: new Date(horizon).toISOString() });
    expect(JSON.parse(entries[0]?.before ?? "")).toMatchObject({ grants: 1, topUps: [{ topUps: 1, amount: "30000" }] });
  });

  test("an interrupted run is gone on with by the next, wherever it was interrupted", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const [first] = (await topUpEvery(opened, 100, 3)) as [TopUpCommand];
    const before = opened.now - 150 * DAY;
    await store.retention.moveHorizon(before, by(opened.now));
    expect(await store.findTransaction(first.checkoutId)).toBeDefined();
    expect(await store.settleTopUp(first)).toMatchObject({ kind: "replayed" });
    await store.retention.pruneLedgers({ before, dryRun: false }, undefined);
    expect(await prune(opened, 150, await opened.another())).toMatchObject({ grants: 0 });
    expect(await countRows(opened, "top_up")).toBe(2);
    expect(await findWrong(store)).toEqual([]);
  });

  test("nothing goes that the horizon does not allow, whoever asks", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    await topUpEvery(opened, 100, 3);
    const request = { before: opened.now - 50 * DAY, dryRun: false };
    await expect(store.retention.pruneLedgers(request, undefined)).rejects.toThrow(/never deleted|P0001/);
    await store.retention.moveHorizon(opened.now - 250 * DAY, by(opened.now));
    await expect(store.retention.pruneLedgers(request, undefined)).rejects.toThrow(/never deleted|P0001/);
    expect(await countRows(opened, "top_up")).toBe(3);
    expect(await findWrong(store)).toEqual([]);
  });

  test("letting go beside top-ups, reversals and imports moves no end, and takes nothing that is young", async () => {
    const opened = await openProvider(makeDatabase);
    const customers = Array.from({ length: 150 }, (_, index) => ({
      cuid: `30${String(index).padStart(3, "0")}`,
      first_name: "A",
      last_name: "B",
      status: "active",
      connections: { iptv: [{ username: `user${index}`, status: "active" }] },
    }));
    const keys = customers.map(({ cuid }, index) => ({ ...SITA_IPTV, cuid, reqId: `user${index}` }));
    await restate(opened.store, opened.now, ...customers);
    const buy = (store: Store) => Promise.all(keys.map((key) => store.settleTopUp(opened.command(key, "ITV-1M"))));
    for (let round = 0; round < 4; round += 1) {
      for (const outcome of await buy(opened.store)) expectRecorded(outcome);
      opened.now += 60 * DAY;
    }
    const before = opened.now - 70 * DAY;
    const wrong = (await buy(opened.store)).map((outcome) => expectRecorded(outcome));
    opened.now += 1_000;
    const ends = () => Promise.all(keys.map((key) => endOf(opened.store, key, IPTV)));
    const other = await opened.another();
    const statement = iptvUntil("2026-12-31 09:00:00");
    const [pruned, made] = await Promise.all([
      prune(opened, 70, other),
      buy(opened.store),
      Promise.all(
        wrong.map(({ checkoutId }) =>
          opened.store.corrections.reverse(checkoutId, { ...by(opened.now), reason: "paid twice" }),
        ),
      ),
      restate(
        opened.store,
        opened.now,
        ...customers.map((customer, index) => ({
          ...customer,
          connections: { iptv: [{ ...statement, username: `user${index}` }] },
        })),
      ),
    ]);
    expect(pruned.grants).toBeGreaterThanOrEqual(2 * customers.length);
    for (const outcome of made) {
      const { checkoutId } = expectRecorded(outcome);
      expect(await other.findTransaction(checkoutId)).toMatchObject({ status: "success" });
    }
    // One month each, from the top-up that was not taken back: before or after the reversal it comes to the same.
    expect(new Set(await ends()).size).toBe(1);
    expect((await ends())[0]).toBe(
      opened.store.provider.calendar.format(
        opened.store.provider.calendar.add(opened.now, { months: 1, days: 0, seconds: 0 }),
      ),
    );
    const [{ young }] = (await opened.database.read(
      `SELECT count(*) AS young FROM top_up WHERE at >= ${before}`,
    )) as unknown as [{ young: number }];
    expect(Number(young)).toBe(3 * customers.length);
    expect(await findWrong(other)).toEqual([]);
  });
}

function iptvUntil(enddate: string) {
  return {
    username: "sita-iptv",
    status: "active",
    subscriptions: [{ code: "ITV-1M", startdate: "2026-11-20 09:00:00", enddate }],
  };
}
