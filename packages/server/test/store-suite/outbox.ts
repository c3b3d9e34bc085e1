import { expect, test } from "vitest";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import {
  type ConnectionEvent,
  EVENTS_KEPT_MS,
  eventId,
  type Recorded,
  type RecordedEvent,
} from "../../src/domain/event.ts";
import { portionsOf } from "../../src/domain/portions.ts";
import { type DueUser, NEVER } from "../../src/domain/sessions.ts";
import type { WaitingDelivery } from "../../src/domain/target.ts";
import { listEvents } from "../../src/office/targets/events.ts";
import { addTarget, removeTarget, resendToTarget, showTarget } from "../../src/office/targets/operations.ts";
import { eventsAfter } from "../../src/store/events.ts";
import type { ConnectionTurn } from "../../src/store/outbox.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import { sessionsDueOf } from "../../src/store/sessions-due.ts";
import type { Store } from "../../src/store/store.ts";
import { run } from "../support/desk.ts";
import { plain } from "./customers.ts";
import { countRows, type MakeDatabase } from "./database.ts";
import { FIBER, HARI_TV, openProvider, RAM, SITA, SITA_NET, SITA_TV } from "./provider.ts";

async function openWithTarget(makeDatabase: MakeDatabase, { billing } = { billing: true }) {
  const opened = await openProvider(makeDatabase);
  const { target } = await run(opened.desk(), addTarget, { name: "billing", billing });
  const events = () => eventsAfter(opened.store.engine.db, 0, 1_000);
  const progress = () => run(opened.desk(), showTarget, { name: "billing" });
  return { opened, target, store: opened.store, events, progress };
}

function inShort(event: RecordedEvent) {
  const { kind, key, state, topUp } = event as Recorded<ConnectionEvent>;
  return [kind, key.reqId, state.blocked, state.subscriptions.map(({ end }) => end), topUp?.txnId];
}

function byText(a: unknown, b: unknown): number {
  return String(a) < String(b) ? -1 : 1;
}

/** Events are written in the transactions that make them happen, and kept until every target has them. */
export function testOutbox(makeDatabase: MakeDatabase): void {
  test("nothing is written without a target", async () => {
    const opened = await openProvider(makeDatabase);
    const { checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    await opened.reverse(checkoutId);
    await opened.restate({ ...SITA, connections: {} });
    expect(await countRows(opened, "event")).toBe(0);
  });

  test("events of top-ups and corrections have the state after each", async () => {
    const { opened, events } = await openWithTarget(makeDatabase);
    const first = await opened.topUp(SITA_NET, "NET-1M");
    await opened.topUp(SITA_NET, "NET-3M");
    await opened.reverse(first.checkoutId);
    await opened.grant({ ...SITA_NET, plan: FIBER }, 2);
    await opened.block(SITA_NET, true);
    await opened.block(SITA_NET, false);
    const told = await events();
    expect(told.map(inShort)).toEqual([
      ["topup.recorded", "sita", false, ["2027-01-10 09:00:00"], first.txnId],
      ["topup.recorded", "sita", false, ["2027-04-10 09:00:00"], expect.any(String)],
      ["topup.reversed", "sita", false, ["2027-03-10 09:00:00"], first.txnId],
      ["subscription.changed", "sita", false, ["2027-03-12 09:00:00"], undefined],
      ["connection.blocked", "sita", true, ["2027-03-12 09:00:00"], undefined],
      ["connection.unblocked", "sita", false, ["2027-03-12 09:00:00"], undefined],
    ]);
    expect(told[0]).toMatchObject({
      ...{ at: opened.now, partner: opened.partner.name, key: SITA_NET },
      topUp: { checkoutId: first.checkoutId, partnerId: first.partnerId, bouquetCode: "NET-1M", amount: 113_000n },
      state: { subscriptions: [{ plan: FIBER, bouquetId: "NET-1M", start: "2026-11-10 09:00:00", addOn: false }] },
    });
    expect(told.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("a refused top-up, one that is answered again, and a correction that changes nothing are not told", async () => {
    const { opened, store, events } = await openWithTarget(makeDatabase);
    const command = opened.command(SITA_NET, "NET-1M");
    await store.settleTopUp(command);
    await store.settleTopUp(command);
    await store.settleTopUp(opened.command(HARI_TV, "TV-1M"));
    await opened.block(HARI_TV, true);
    expect(await events()).toHaveLength(1);
  });

  test("an import writes events only for connections whose subscriptions or block it changes", async () => {
    const { opened, events } = await openWithTarget(makeDatabase);
    const later = { startdate: "2026-11-10 09:00:00", enddate: "2027-02-10 09:00:00" };
    const internet = [{ username: "ram", status: "active", subscriptions: [{ code: "NET-1M", ...later }] }];
    const tv = [{ ...RAM.connections.tv[0], status: "blocked" }];
    await opened.restate({ ...RAM, last_name: "Lama", connections: { tv, internet } });
    await opened.restate({ ...SITA, connections: { ...SITA.connections, internet: [] } });
    expect((await events()).map(inShort).sort(byText)).toEqual([
      ["connection.blocked", "007700000000002", true, ["2026-11-01 09:00:00"], undefined],
      ["subscription.changed", "ram", false, ["2027-02-10 09:00:00"], undefined],
      ["subscription.changed", "sita", false, [], undefined],
    ]);
  });

  test("events of many processes are numbered in the order of their visibility", async () => {
    const { opened, store } = await openWithTarget(makeDatabase);
    const reader = await opened.another();
    const others = [store, await opened.another(), reader];
    const commands = Array.from({ length: 60 }, (_, index) =>
      opened.command(index % 2 ? SITA_NET : SITA_TV, index % 2 ? "NET-1M" : "TV-1M"),
    );
    const read: Recorded<ConnectionEvent>[] = [];
    let isOver = false;
    const reading = (async () => {
      for (let looks = 0; looks < 10_000; looks += 1) {
        const wasOver = isOver;
        const page = await eventsAfter(reader.engine.db, read.at(-1)?.seq ?? 0, 7);
        read.push(...(page as Recorded<ConnectionEvent>[]));
        if (wasOver && page.length === 0) return;
      }
    })();
    await Promise.all(commands.map((command, index) => (others[index % 3] as Store).settleTopUp(command)));
    isOver = true;
    await reading;
    expect(new Set(read.map(({ topUp }) => topUp?.checkoutId))).toEqual(
      new Set(commands.map(({ checkoutId }) => checkoutId)),
    );
    for (const connection of ["sita", "007700000000001"]) {
      const ends = read.filter(({ key }) => key.reqId === connection).map(({ state }) => state.subscriptions[0]?.end);
      expect(ends).toEqual([...ends].sort(byText));
    }
  });

  test("a lease that ends later than a right clock could let it is free", async () => {
    const { opened, store } = await openWithTarget(makeDatabase);
    const outbox = outboxOf(store.engine);
    const { now } = opened;
    const holdAhead = (holder: string, ms: number) => outbox.hold("ends", holder, now + ms, now + ms + 20_000);
    expect(await holdAhead("ahead", 60_000)).toBe(true);
    expect(await holdAhead("right", 0)).toBe(false);
    expect(await holdAhead("ahead", 60_001)).toBe(true);
    expect(await holdAhead("right", 0)).toBe(true);
    expect(await opened.database.read("SELECT holder FROM lease")).toEqual([{ holder: "right" }]);
  });

  test("a lease is one holder's until it ends or is given back", async () => {
    const { opened, store } = await openWithTarget(makeDatabase);
    const outbox = outboxOf(store.engine);
    const other = outboxOf((await opened.another()).engine);
    const [now, until] = [opened.now, opened.now + 20_000];
    const held = await Promise.all([outbox.hold("ends", "a", now, until), other.hold("ends", "b", now, until)]);
    expect(held.sort()).toEqual([false, true]);
    const [holder] = (await opened.database.read("SELECT holder FROM lease")) as { holder: string }[];
    const [mine, theirs] = holder?.holder === "a" ? ["a", "b"] : ["b", "a"];
    expect(await outbox.hold("ends", mine ?? "", now + 10_000, now + 30_000)).toBe(true);
    expect(await other.hold("ends", theirs ?? "", now + 29_999, until + 60_000)).toBe(false);
    expect(await other.hold("ends", theirs ?? "", now + 30_000, until + 60_000)).toBe(true);
    await other.release("ends", theirs ?? "");
    expect(await outbox.hold("ends", mine ?? "", now, until)).toBe(true);
  });

  test("progress is kept only by the holder of the lease", async () => {
    const { opened, store, target, progress } = await openWithTarget(makeDatabase);
    const outbox = outboxOf(store.engine);
    for (let count = 0; count < 3; count += 1) await opened.topUp(SITA_NET, "NET-1M");
    const lease = { lease: `target:${target.id}`, holder: "a", targetId: target.id };
    const failed = {
      attempts: 2,
      failedAt: opened.now,
      nextAt: opened.now + 5_000,
      setAside: false,
      problem: "status 500",
    };
    const waiting: WaitingDelivery[] = [
      { seq: 1, ...failed },
      { seq: 2, ...failed, setAside: true },
    ];
    expect(await outbox.saveProgress({ ...lease, place: 2, waiting, done: [], steps: [], logged: [] })).toBe(false);
    await outbox.hold(lease.lease, "a", opened.now, opened.now + 20_000);
    expect(await outbox.saveProgress({ ...lease, place: 2, waiting, done: [], steps: [], logged: [] })).toBe(true);
    expect(await outbox.waiting(target.id)).toEqual(waiting);
    expect(await outbox.place(target.id)).toBe(2);
    expect(await progress()).toMatchObject({ behind: 3, failing: 1, setAside: 1, state: "failing" });
    opened.now += 1;
    expect(await run(opened.desk(), resendToTarget, { name: "billing" })).toEqual({ resent: 2 });
    const again = { attempts: 0, failedAt: undefined, nextAt: opened.now, setAside: false };
    expect(await outbox.waiting(target.id)).toMatchObject([again, again]);
    expect(await outbox.targets()).toMatchObject([{ resentAt: opened.now }]);
    expect(await outbox.saveProgress({ ...lease, place: 3, waiting: [], done: [1, 2], steps: [], logged: [] })).toBe(
      true,
    );
    expect(await progress()).toMatchObject({ behind: 0, failing: 0, setAside: 0, oldestAt: null });
    await run(opened.desk(), removeTarget, { name: "billing" });
    expect(await outbox.saveProgress({ ...lease, place: 3, waiting, done: [], steps: [], logged: [] })).toBe(false);
  });

  test("events go once every target has them, or once they are old, and the last one stays", async () => {
    const { opened, store, events } = await openWithTarget(makeDatabase);
    for (let count = 0; count < 4; count += 1) await opened.topUp(SITA_NET, "NET-1M");
    const seqs = async () => (await eventsAfter(store.engine.db, 0, 10)).map(({ seq }) => seq);
    expect(await outboxOf(store.engine).forget(0)).toBe(0);
    const [, second] = await events();
    await run(opened.desk(), listEvents, { target: "billing", after: eventId(second as RecordedEvent) });
    expect(await outboxOf(store.engine).forget(0)).toBe(2);
    expect(await seqs()).toEqual([3, 4]);
    // Events for billing stay, however old they are.
    expect(await outboxOf(store.engine).forget(opened.now + EVENTS_KEPT_MS + 1)).toBe(0);
    await run(opened.desk(), addTarget, { name: "tv" });
    await run(opened.desk(), removeTarget, { name: "billing" });
    expect(await outboxOf(store.engine).forget(opened.now + EVENTS_KEPT_MS + 1)).toBe(1);
    expect(await outboxOf(store.engine).forget(opened.now + EVENTS_KEPT_MS + 1)).toBe(0);
    expect(await seqs()).toEqual([4]);
    await opened.topUp(SITA_NET, "NET-1M");
    expect(await seqs()).toEqual([4, 5]);
  });

  test("old events are deleted with their deliveries, although a target lacks them", async () => {
    const { opened, store, target, progress } = await openWithTarget(makeDatabase, { billing: false });
    for (let count = 0; count < 3; count += 1) await opened.topUp(SITA_NET, "NET-1M");
    const lease = { lease: `target:${target.id}`, holder: "a" };
    await outboxOf(store.engine).hold(lease.lease, "a", opened.now, opened.now + 20_000);
    const waiting = { seq: 1, attempts: 1, failedAt: opened.now, nextAt: opened.now, setAside: true, problem: "gone" };
    await outboxOf(store.engine).saveProgress({
      ...lease,
      targetId: target.id,
      place: 1,
      waiting: [waiting],
      done: [],
      steps: [],
      logged: [],
    });
    expect(await outboxOf(store.engine).forget(opened.now + EVENTS_KEPT_MS)).toBe(0);
    expect(await outboxOf(store.engine).forget(opened.now + EVENTS_KEPT_MS + 1)).toBe(2);
    expect(await progress()).toMatchObject({ behind: 1, setAside: 0 });
  });

  test("ends in a span are found, and each that still holds gets one event", async () => {
    const { opened, store, events } = await openWithTarget(makeDatabase);
    const outbox = outboxOf(store.engine);
    const span = ["2026-11-20 09:00:00", "2026-12-10 09:00:00"] as const;
    const { turns, next } = await outbox.turnsBetween(...span, undefined);
    expect(next).toBeUndefined();
    expect(turns).toEqual([
      { key: SITA_NET, kind: "end", at: span[1] },
      { key: SITA_TV, kind: "end", at: span[1] },
    ]);
    expect(await outbox.turnsBetween(...span, SITA_NET)).toEqual({ turns: [turns[1]], next: undefined });
    expect((await outbox.turnsBetween("2026-12-10 09:00:00", "2027-12-10 09:00:00", undefined)).turns).toEqual([]);
    expect(await outbox.turnsToldUntil()).toBeUndefined();
    await opened.topUp(SITA_TV, "TV-1M");
    opened.now = Date.parse("2026-12-10T09:00:01Z");
    // More ends wait for their events.
    const told = { at: opened.now, toldUntil: "2026-12-01 00:00:00" };
    const lease = { lease: "ends", holder: "a" };
    expect(await outbox.tellTurns(turns, told, lease)).toBe(false);
    await outbox.hold("ends", "a", opened.now, opened.now + 20_000);
    expect(await outbox.tellTurns(turns, told, lease)).toBe(true);
    expect((await events()).map(inShort).slice(1)).toEqual([
      ["subscription.ended", "sita", false, [span[1]], undefined],
    ]);
    expect(await outbox.turnsToldUntil()).toBe(told.toldUntil);
    const { state } = (await events()).at(-1) as Recorded<ConnectionEvent>;
    expect(state.was).toEqual({ blocked: false, served: true, plan: FIBER });
  });

  test("a start in a span is found, and gets an event with what the connection could use before", async () => {
    const { opened, store, events } = await openWithTarget(makeDatabase);
    const outbox = outboxOf(store.engine);
    const start = "2027-02-01 00:00:00";
    const run = { code: "NET-1M", startdate: start, enddate: "2027-03-01 00:00:00" };
    await opened.restate(
      plain("60202", { connections: { internet: [{ username: "future2", status: "active", subscriptions: [run] }] } }),
    );
    const key = { environment: "production", cuid: "60202", service: "internet", reqId: "future2" } as const;
    const { turns } = await outbox.turnsBetween("2027-01-31 23:59:59", start, undefined);
    expect(turns).toEqual([{ key, kind: "start", at: start }]);
    opened.now = Date.parse("2027-02-01T00:00:01Z");
    const lease = { lease: "ends", holder: "a" };
    await outbox.hold("ends", "a", opened.now, opened.now + 20_000);
    const moved = { key, kind: "start", at: "2027-01-31 00:00:00" } as const;
    expect(await outbox.tellTurns([...turns, moved], { at: opened.now, toldUntil: start }, lease)).toBe(true);
    const begun = (await events()).slice(1) as Recorded<ConnectionEvent>[];
    expect(begun.map(({ kind, at, state }) => [kind, at, state.was])).toEqual([
      ["subscription.changed", opened.now, { blocked: false, served: false, plan: FIBER }],
    ]);
  });

  test("sessions are due after an event that alters and has written the rows, once for each", async () => {
    const { opened, target, store } = await openWithTarget(makeDatabase);
    const [outbox, sessions] = [outboxOf(store.engine), sessionsDueOf(store.engine)];
    const [held, ending] = [
      { lease: `target:${target.id}`, holder: "a" },
      { lease: "sessions", holder: "b" },
    ];
    for (const { lease, holder } of [held, ending]) await outbox.hold(lease, holder, opened.now, opened.now + 20_000);
    const tell = (...told: readonly (readonly [username: string, seq: number, alters: boolean, dueAt?: number])[]) => {
      const users = told.map(([username, seq, alters, dueAt]) => ({ username, seq, at: seq, alters, dueAt }));
      const progress = { ...held, targetId: target.id, place: 0, waiting: [], done: [], steps: [], logged: [] };
      return outbox.saveProgress({ ...progress, users });
    };
    const due = async (now: number) =>
      (await sessions.due(target.id, now, 10)).map(({ username, seq, dueAt }) => [username, seq, dueAt]);
    await tell(["sita", 1, false, 10], ["ram", 2, true, 20], ["hari", 3, true], ["ram", 4, false, 25]);
    expect([await due(19), await due(100)]).toEqual([[], [["ram", 2, 20]]]);
    await tell(["hari", 5, false, 30], ["ram", 2, true, 40]);
    const [ram, hari] = await sessions.due(target.id, 100, 10);
    expect(await due(100)).toEqual([
      ["ram", 2, 20],
      ["hari", 3, 30],
    ]);
    const done = [ram, hari].map((user) => ({ ...(user as DueUser), state: "ended" as const, nextAt: NEVER }));
    await tell(["hari", 6, true, 50]);
    expect(await sessions.save(target.id, done, 0, { ...ending, holder: "c" })).toBeUndefined();
    expect(await sessions.save(target.id, done, 0, ending)).toMatchObject([{ username: "hari", seq: 3 }]);
    await tell(["ram", 2, true, 60], ["ram", 1, true, 60]);
    expect([await due(100), await sessions.open(target.id, "", 10)]).toMatchObject([
      [["hari", 6, 50]],
      [{ seq: 6, at: 6 }],
    ]);
    await tell(["ram", 7, true, 70], ["ram", 8, true]);
    expect(await due(100)).toEqual([["hari", 6, 50]]);
    await run(opened.desk(), removeTarget, { name: "billing" });
    expect(await countRows(opened, "session_due")).toBe(0);
  });

  test("every end of many subscriptions is found, however many are looked at together", async () => {
    const { opened, store } = await openWithTarget(makeDatabase);
    const count = 2_300;
    const run = { code: "NET-1M", startdate: "2026-11-01 00:00:00" };
    const ends = ["2026-12-02 00:00:00", "2026-12-01 00:00:00"];
    const rows = Array.from({ length: count }, (_, index) => {
      const subscriptions = [{ ...run, enddate: ends[index % 2] }];
      return plain(`${index}`, {
        connections: { internet: [{ username: `u${index}`, status: "active", subscriptions }] },
      });
    });
    // An import of all rows at once would hold one transaction open for too long on a busy machine.
    for (const portion of portionsOf(rows, 200)) await opened.restate(...portion);
    const found: ConnectionTurn[] = [];
    let pages = 0;
    for (let beyond: ConnectionKey | undefined; pages === 0 || beyond !== undefined; pages += 1) {
      const page = await outboxOf(store.engine).turnsBetween("2026-11-20 09:00:00", "2026-12-01 00:00:00", beyond);
      found.push(...page.turns);
      beyond = page.next;
    }
    expect(pages).toBe(2);
    expect(found).toHaveLength(count / 2);
    expect(new Set(found.map(({ key }) => key.reqId)).size).toBe(count / 2);
    expect((await eventsAfter(store.engine.db, 0, 10_000)).length).toBe(count);
  });
}
