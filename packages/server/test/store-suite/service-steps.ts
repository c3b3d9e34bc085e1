import { expect, test } from "vitest";
import type { ConnectionKey } from "../../src/domain/customer.ts";
import { type ConnectionEvent, eventId, eventMessage, type Recorded } from "../../src/domain/event.ts";
import { type ServiceStep, stepAfter } from "../../src/domain/service-step.ts";
import { NEVER } from "../../src/domain/sessions.ts";
import { listAttention } from "../../src/office/alerts/operations.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { showCustomer } from "../../src/office/customers/operations.ts";
import { confirmEvent } from "../../src/office/steps/confirm.ts";
import { listLateServices, resendCustomer } from "../../src/office/steps/operations.ts";
import { listEvents } from "../../src/office/targets/events.ts";
import { addTarget, makeTargetKey, pauseTarget, removeTarget } from "../../src/office/targets/operations.ts";
import { findTargetByKey, targetNamed } from "../../src/office/targets/sql.ts";
import { eventsAfter, lastEvent } from "../../src/store/events.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import { toStep } from "../../src/store/service-steps.ts";
import { refusal, run } from "../support/desk.ts";
import { alertEvent } from "../targets/receivers.ts";
import { plain } from "./customers.ts";
import { countRows, type MakeDatabase } from "./database.ts";
import { GITA_NET, HARI_TV, importRows, openProvider, RAM_NET, SITA_NET, SITA_TV } from "./provider.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

async function openWithTargets(makeDatabase: MakeDatabase, ...names: readonly string[]) {
  const opened = await openProvider(makeDatabase);
  const { store } = opened;
  const { db } = store.engine;
  opened.now += MINUTE;
  for (const name of names) await run(opened.desk(), addTarget, { name, webhook: { url: "http://127.0.0.1:9/" } });
  const lastOf = async ({ service, reqId }: ConnectionKey) => {
    const events = (await eventsAfter(db, 0, 100)) as Recorded<ConnectionEvent>[];
    return events.findLast(({ key }) => key.service === service && key.reqId === reqId) as Recorded<ConnectionEvent>;
  };
  /** Saves the steps of events that were sent a second after they were written. */
  const send = async (
    name: string,
    events: readonly ConnectionEvent[],
    how: Partial<Parameters<typeof stepAfter>[1]> = {},
  ) => {
    const { id: targetId } = await targetNamed(db, name);
    const held = { lease: `target:${targetId}`, holder: "a" };
    await outboxOf(store.engine).hold(held.lease, "a", opened.now, opened.now + 20_000);
    const steps = (events as Recorded<ConnectionEvent>[]).map((event) => {
      const times = { sentAt: event.at + SECOND, endedAt: event.at + 2 * SECOND };
      return stepAfter(event, { ...times, isPending: false, problem: undefined, ...how });
    });
    const place = await lastEvent(db);
    const saved = { ...held, targetId, place, waiting: [], done: [], steps, logged: [] };
    expect(await outboxOf(store.engine).saveProgress(saved)).toBe(true);
  };
  const confirm = async (name: string, eventId: string, state: "done" | "failed", detail?: string) =>
    confirmEvent(opened.desk(), await targetNamed(db, name), { eventId, state, detail }, (_, ms) => ended.push(ms));
  const ended: number[] = [];
  const rows = async () => (await db.selectFrom("serviceStep").selectAll().orderBy("targetId").execute()).map(toStep);
  const chainOf = async ({ cuid, service, reqId }: ConnectionKey) => {
    const { connections } = await run(opened.desk(), showCustomer, { cuid, environment: "production" });
    return connections.find((each) => each.service === service && each.reqId === reqId)?.chain;
  };
  const late = async () => (await run(opened.desk(), listLateServices, {})).items;
  return { ...{ opened, store, db, lastOf, send, confirm, ended, rows, chainOf, late } };
}

/** Where the last change of each connection is. */
export function testServiceSteps(makeDatabase: MakeDatabase): void {
  test("a change is shown from the top-up to the confirmation, and by the next change as not sent", async () => {
    const { opened, lastOf, send, confirm, chainOf } = await openWithTargets(makeDatabase, "tv", "billing");
    expect(await chainOf(SITA_NET)).toBeNull();
    await opened.topUp(SITA_NET, "NET-1M");
    const paid = `paid ${opened.store.provider.zone.wallTime(opened.now)}`;
    const event = await lastOf(SITA_NET);
    expect(event.at).toBe(opened.now);
    expect((await chainOf(SITA_NET))?.text).toBe(`${paid} · tv not sent yet · billing not sent yet`);
    await send("tv", [event], { isPending: true });
    await send("billing", [event], { problem: "status 500" });
    const accepted = paid.replace(/^paid .* /, "").replace(/00$/, "02");
    const failing = `billing sent ${accepted.replace(/02$/, "01")}, failing: status 500`;
    expect(await chainOf(SITA_NET)).toMatchObject({
      text: `${paid} · tv accepted ${accepted} · waits for its confirmation · ${failing}`,
      isOff: false,
      steps: [
        { target: "tv", state: "waits", acceptedAt: new Date(event.at + 2 * SECOND).toISOString(), endedAt: null },
        { target: "billing", state: "failing", acceptedAt: null, detail: "status 500" },
      ],
    });
    opened.now += 7 * SECOND;
    expect(await confirm("tv", eventId(event), "done", "box 4711 authorised")).toEqual({ state: "done" });
    const confirmed = `'box 4711 authorised' ${accepted.replace(/02$/, "07")}`;
    expect((await chainOf(SITA_NET))?.text).toBe(`${paid} · tv accepted ${accepted} · ${confirmed} · ${failing}`);
    // Another connection of the customer has a way of its own.
    expect(await chainOf(SITA_TV)).toBeNull();
    await opened.block(SITA_NET, true);
    expect((await chainOf(SITA_NET))?.text).toMatch(/^blocked .* · tv not sent yet · billing not sent yet$/);
    await run(opened.desk(), removeTarget, { name: "tv" });
    expect((await chainOf(SITA_NET))?.steps.map(({ target }) => target)).toEqual(["billing"]);
  });

  test("a feed has accepted what it has read past, and a paused target waits", async () => {
    const { opened, db, lastOf, chainOf } = await openWithTargets(makeDatabase, "tv");
    await run(opened.desk(), addTarget, { name: "crm" });
    await run(opened.desk(), pauseTarget, { name: "tv", paused: true });
    await opened.topUp(SITA_NET, "NET-1M");
    opened.now += SECOND;
    await opened.topUp(SITA_TV, "TV-1M");
    expect((await chainOf(SITA_NET))?.text).toMatch(/ · tv is paused · crm not sent yet$/);
    await run(opened.desk(), listEvents, { target: "crm", after: eventId(await lastOf(SITA_NET)) });
    expect((await chainOf(SITA_NET))?.text).toMatch(/ · tv is paused · crm accepted$/);
    expect((await chainOf(SITA_TV))?.text).toMatch(/ · crm not sent yet$/);
    await run(opened.desk(), listEvents, { target: "crm", after: eventId(await lastOf(SITA_TV)) });
    expect((await chainOf(SITA_TV))?.text).toMatch(/ · crm accepted$/);
    expect(await countRows({ database: opened.database }, "service_step")).toBe(0);
    expect(await lastEvent(db)).toBeGreaterThan(0);
  });

  test("of each connection the last event stays, with its first times and what its receiver confirmed", async () => {
    const { opened, lastOf, send, confirm, rows } = await openWithTargets(makeDatabase, "tv");
    await opened.topUp(SITA_NET, "NET-1M");
    const first = await lastOf(SITA_NET);
    opened.now += SECOND;
    await opened.topUp(SITA_NET, "NET-1M");
    const second = await lastOf(SITA_NET);
    await opened.topUp(SITA_TV, "TV-1M");
    const tv = await lastOf(SITA_TV);
    await send("tv", [second, tv], { problem: "status 500" });
    await send("tv", [first]);
    const times = { sentAt: second.at + SECOND, acceptedAt: undefined, endedAt: undefined };
    const failing = { outcome: "open", detail: "status 500" };
    const step = { key: SITA_NET, seq: second.seq, kind: "topup.recorded", at: second.at, ...times };
    const of = async ({ reqId }: ConnectionKey) => (await rows()).find(({ key }) => key.reqId === reqId) as ServiceStep;
    expect(await of(SITA_NET)).toEqual({ ...step, ...failing });
    await send("tv", [second], { sentAt: second.at + 9_000, endedAt: second.at + 10_000, isPending: true });
    const accepted = { ...step, acceptedAt: second.at + 10_000, outcome: "open", detail: undefined };
    expect(await of(SITA_NET)).toEqual(accepted);
    opened.now += MINUTE;
    await confirm("tv", eventId(second), "failed", "no such box");
    const failed = { ...accepted, endedAt: opened.now, outcome: "failed", detail: "no such box" };
    expect(await of(SITA_NET)).toEqual(failed);
    // Sent again after a kill: what was confirmed stays.
    await send("tv", [second], { isPending: true });
    expect(await of(SITA_NET)).toEqual(failed);
    expect(await of(SITA_TV)).toMatchObject({ seq: tv.seq, ...failing });
  });

  test("an event is confirmed before its delivery is saved, again without effect, and after a failure", async () => {
    const { opened, lastOf, send, confirm, rows, ended } = await openWithTargets(makeDatabase, "tv");
    await opened.topUp(SITA_NET, "NET-1M");
    const event = await lastOf(SITA_NET);
    opened.now += 5 * SECOND;
    expect(await confirm("tv", eventId(event), "done", "on")).toEqual({ state: "done" });
    const endedAt = opened.now;
    const [before] = await rows();
    expect(before).toMatchObject({ sentAt: undefined, acceptedAt: undefined, endedAt, outcome: "done", detail: "on" });
    await send("tv", [event], { isPending: true });
    const [after] = await rows();
    expect(after).toEqual({ ...before, sentAt: event.at + SECOND, acceptedAt: event.at + 2 * SECOND });
    opened.now += MINUTE;
    expect(await confirm("tv", eventId(event), "done")).toEqual({ state: "done" });
    expect([await rows(), ended]).toEqual([[after], [5 * SECOND]]);
    expect(await confirm("tv", eventId(event), "failed", "box\0 lost")).toEqual({ state: "failed" });
    expect(await rows()).toMatchObject([{ endedAt: opened.now, outcome: "failed", detail: "box\uFFFD lost" }]);
    expect(await confirm("tv", eventId(event), "done")).toEqual({ state: "done" });
    expect(ended).toEqual([5 * SECOND, 65 * SECOND]);
  });

  test("confirming an event confirms the earlier ones of its connection, at this target only", async () => {
    const { opened, lastOf, send, confirm, rows } = await openWithTargets(makeDatabase, "tv", "billing");
    await opened.topUp(SITA_NET, "NET-1M");
    const first = await lastOf(SITA_NET);
    await send("tv", [first], { isPending: true });
    await send("billing", [first], { isPending: true });
    await opened.topUp(SITA_NET, "NET-1M");
    const second = await lastOf(SITA_NET);
    expect(await confirm("tv", eventId(second), "done")).toEqual({ state: "done" });
    expect(await rows()).toMatchObject([
      { seq: second.seq, outcome: "done" },
      { seq: first.seq, outcome: "open" },
    ]);
    expect(await confirm("tv", eventId(first), "failed")).toEqual({ state: "replaced" });
    expect(await rows()).toMatchObject([{ seq: second.seq, outcome: "done" }, { outcome: "open" }]);
  });

  test("an unknown event, one with another time, and an alert cannot be confirmed", async () => {
    const { opened, db, lastOf, confirm } = await openWithTargets(makeDatabase, "tv");
    await opened.topUp(SITA_NET, "NET-1M");
    const event = await lastOf(SITA_NET);
    const alert = alertEvent(event.seq + 1);
    const { partnerId, environment } = alert.alert;
    const row = { kind: alert.kind, at: alert.at, environment, partnerId, cuid: null, service: null, reqId: null };
    await db
      .insertInto("event")
      .values({ ...row, seq: alert.seq, state: "{}" })
      .execute();
    for (const id of [
      "",
      "evt_1_1",
      eventId({ ...event, at: event.at + 1 }),
      eventId({ ...event, seq: 99 }),
      eventId(alert),
    ])
      expect(await refusal(confirm("tv", id, "done"))).toMatchObject({ code: "not_found" });
  });

  test("a key belongs to one webhook, and the next one replaces it", async () => {
    const { opened, db } = await openWithTargets(makeDatabase, "tv", "billing");
    await run(opened.desk(), addTarget, { name: "crm" });
    const make = async (name: string) => (await run(opened.desk(), makeTargetKey, { name })).key;
    const nameOf = async (key: string) => (await findTargetByKey(db, key))?.name;
    const [first, other] = [await make("tv"), await make("billing")];
    expect(first).toMatch(/^topup_target_\w{49}$/);
    expect([await nameOf(first), await nameOf(other)]).toEqual(["tv", "billing"]);
    const second = await make("tv");
    expect([await nameOf(first), await nameOf(second)]).toEqual([undefined, "tv"]);
    expect(await nameOf(`${second.slice(0, -1)}${second.endsWith("0") ? "1" : "0"}`)).toBeUndefined();
    expect(await refusal(make("crm"))).toMatchObject({ code: "conflict" });
    const trail = await listEntries(db, { subject: "tv" }, 10);
    expect(trail.map(({ action }) => action)).toEqual(["target.key", "target.key", "target.add"]);
    expect(JSON.stringify(trail)).not.toContain("topup_target_");
    await run(opened.desk(), removeTarget, { name: "tv" });
    expect(await nameOf(second)).toBeUndefined();
  });

  test("all paid connections with a late step are counted, and 50 of them are listed", async () => {
    const { opened } = await openWithTargets(makeDatabase, "tv");
    const names = Array.from({ length: 62 }, (_, index) => `user${index}`);
    const rows = names.map((username) =>
      plain(username, { connections: { internet: [{ username, status: "active" }] } }),
    );
    await importRows(opened.store, opened.now, ...rows);
    for (const reqId of names)
      await opened.topUp({ cuid: reqId, environment: "production", service: "internet", reqId }, "NET-1M");
    opened.now += 5 * MINUTE + 1;
    const late = await run(opened.desk(), listLateServices, {});
    expect([late.items.length, late.total, late.isCut]).toEqual([50, 62, false]);
    const items = (await run(opened.desk(), listAttention, {})).items;
    expect(items.find(({ kind }) => kind === "service_late")?.text).toContain("at a target: 62.");
  });

  test("paid connections with a step that failed or is late are listed, and are a problem until it is over", async () => {
    const { opened, lastOf, send, confirm, late } = await openWithTargets(makeDatabase, "tv");
    const problems = async () =>
      (await run(opened.desk(), listAttention, {})).items.filter(({ kind }) => kind === "service_late");
    await opened.topUp(SITA_NET, "NET-1M");
    await opened.topUp(RAM_NET, "NET-1M");
    opened.now += 5 * MINUTE;
    expect([await late(), await problems()]).toEqual([[], []]);
    // Neither was sent.
    opened.now += 1;
    const text = expect.stringMatching(/^paid .* · tv not sent yet, late$/);
    const [sita, ram] = [
      { ...SITA_NET, text },
      { ...RAM_NET, text },
    ];
    expect(await late()).toEqual([sita, ram]);
    expect(await problems()).toMatchObject([{ text: expect.stringContaining(": 2.") }]);
    expect((await run(opened.desk(), listLateServices, { environment: "trial" })).items).toEqual([]);
    await run(opened.desk(), pauseTarget, { name: "tv", paused: true });
    expect(await late()).toEqual([]);
    await run(opened.desk(), pauseTarget, { name: "tv", paused: false });
    const [event, other] = [await lastOf(SITA_NET), await lastOf(RAM_NET)];
    // However many newer steps are of connections that need no service.
    opened.now += SECOND;
    const unpaid = Array.from({ length: 60 }, (_, index) => {
      return {
        ...event,
        at: event.at + 1,
        seq: 0,
        key: { ...event.key, cuid: `none-${index}`, reqId: `none-${index}` },
      };
    });
    await send("tv", unpaid, { problem: "status 500" });
    await send("tv", [event], { isPending: true });
    await send("tv", [other], { problem: "status 500" });
    expect((await late()).map((each) => each.text.replace(/^.*, failing/, "failing").replace(/^.* · /, ""))).toEqual(
      expect.arrayContaining(["failing: status 500, late", "waits for its confirmation, late"]),
    );
    await confirm("tv", eventId(event), "done");
    await send("tv", [other]);
    expect([await late(), await problems()]).toEqual([[], []]);
    await confirm("tv", eventId(event), "failed", "no such box");
    expect(await late()).toMatchObject([{ ...SITA_NET, text: expect.stringMatching(/failed .*: no such box$/) }]);
    // A blocked connection, and one that ended, need no service.
    await opened.block(SITA_NET, true);
    await confirm("tv", eventId(await lastOf(SITA_NET)), "failed");
    expect(await late()).toEqual([]);
    await opened.block(SITA_NET, false);
    await confirm("tv", eventId(await lastOf(SITA_NET)), "failed");
    expect(await late()).toHaveLength(1);
    opened.now += 90 * 24 * 60 * MINUTE;
    expect(await late()).toEqual([]);
  });

  test("a change at RADIUS is confirmed once sessions ended, and late a minute after they had to", async () => {
    const { opened, db, lastOf, send, chainOf, late } = await openWithTargets(makeDatabase);
    const radius = { database: "mysql://radius:hush@127.0.0.1/radius", groups: {} };
    await run(opened.desk(), addTarget, { name: "network", radius });
    const { id: targetId } = await targetNamed(db, "network");
    await opened.topUp(SITA_NET, "NET-1M");
    const event = await lastOf(SITA_NET);
    await send("network", [event]);
    const tail = async () => (await chainOf(SITA_NET))?.text.replace(/^.* network accepted \S+/, "");
    expect(await tail()).toBe("");
    const row = {
      targetId,
      username: "sita",
      seq: event.seq,
      at: event.at,
      dueAt: event.at,
      state: "due",
      nextAt: event.at,
    } as const;
    await db
      .insertInto("sessionDue")
      .values({ ...row, endedAt: null, problem: null, attempts: 0, noted: null })
      .execute();
    expect([await tail(), await late()]).toEqual([" · waits for its confirmation", []]);
    opened.now += MINUTE + 1;
    expect(await tail()).toBe(" · waits for its confirmation, late");
    expect(await late()).toMatchObject([SITA_NET]);
    const set = (values: object) => db.updateTable("sessionDue").set(values).execute();
    await set({ state: "failed", problem: "10.0.0.1: silent" });
    expect(await tail()).toBe(" · failed: 10.0.0.1: silent");
    expect(await late()).toMatchObject([SITA_NET]);
    await set({ state: "none_open", problem: null, nextAt: NEVER });
    expect([await tail(), await late()]).toEqual([" · works at the next log-in", []]);
    await set({ state: "ended", endedAt: event.at });
    expect(await tail()).toMatch(/^ · confirmed \S+$/);
  });

  test("a plan that has not begun is never late; from its start on, it is until its target was sent the start", async () => {
    const { opened, lastOf, send, chainOf, late } = await openWithTargets(makeDatabase, "tv");
    const { zone } = opened.store.provider;
    const key = { environment: "production", cuid: "60202", service: "internet", reqId: "future2" } as const;
    const startsAt = opened.now + 60 * MINUTE;
    const startdate = zone.wallTime(startsAt);
    const subscriptions = [{ code: "NET-1M", startdate, enddate: "2027-03-01 00:00:00" }];
    const internet = [{ username: "future2", status: "active", subscriptions }];
    await opened.restate(plain("60202", { connections: { internet } }));
    const imported = await lastOf(key);
    await send("tv", [imported], { problem: "status 500" });
    opened.now += 30 * MINUTE;
    expect(await chainOf(key)).toMatchObject({
      text: expect.stringMatching(new RegExp(`^changed .* failing: status 500, late · from ${startdate}$`)),
      isOff: false,
    });
    expect(await late()).toEqual([]);
    await send("tv", [imported]);
    opened.now = startsAt + 6 * MINUTE;
    expect(await chainOf(key)).toMatchObject({ text: `changed ${startdate} · tv not sent yet, late`, isOff: true });
    const outbox = outboxOf(opened.store.engine);
    const lease = { lease: "ends", holder: "a" };
    await outbox.hold(lease.lease, lease.holder, opened.now, opened.now + MINUTE);
    await outbox.tellTurns([{ key, kind: "start", at: startdate }], { at: opened.now, toldUntil: startdate }, lease);
    await send("tv", [await lastOf(key)]);
    expect(await chainOf(key)).toMatchObject({
      text: expect.stringMatching(new RegExp(`^changed ${startdate} · tv accepted [0-9:]+$`)),
      isOff: false,
    });
  });

  test("the present state of a customer is sent again to all targets, without a top-up", async () => {
    const { opened, db, store, chainOf } = await openWithTargets(makeDatabase, "tv");
    await opened.topUp(SITA_NET, "NET-1M");
    const paid = (await chainOf(SITA_NET))?.text;
    const last = await lastEvent(db);
    opened.now += MINUTE;
    expect(await run(opened.desk(), resendCustomer, { cuid: SITA_NET.cuid })).toEqual({ sent: 2 });
    const events = (await eventsAfter(db, last, 10)) as Recorded<ConnectionEvent>[];
    const [tv, net] = events.toSorted((a, b) => (a.key.service < b.key.service ? 1 : -1));
    expect([tv, net]).toMatchObject([
      { kind: "subscription.changed", key: SITA_TV, topUp: undefined, repeated: true, at: opened.now },
      { kind: "subscription.changed", key: SITA_NET, topUp: undefined, repeated: true },
    ]);
    expect(net?.state.subscriptions.map(({ end }) => end)).toEqual(["2027-01-10 09:00:00"]);
    const { data } = eventMessage(net as Recorded<ConnectionEvent>, store.provider.zone, 2);
    expect(data).toMatchObject({ repeated: true, cuid: SITA_NET.cuid });
    expect(data).not.toHaveProperty("topUp");
    const [entry] = await listEntries(db, { subject: SITA_NET.cuid }, 1);
    expect([entry?.action, entry?.after]).toEqual(["customer.resend", '{"environment":"production","events":2}']);
    // The change is the same as before.
    expect((await chainOf(SITA_NET))?.text).toBe(paid);
  });

  test("a connection without a history is sent again only if it is blocked", async () => {
    const { opened, db } = await openWithTargets(makeDatabase, "tv");
    const again = (cuid: string) => run(opened.desk(), resendCustomer, { cuid });
    expect(await again(GITA_NET.cuid)).toEqual({ sent: 0 });
    expect(await again(HARI_TV.cuid)).toEqual({ sent: 1 });
    expect(await eventsAfter(db, 0, 10)).toMatchObject([
      { kind: "connection.blocked", key: HARI_TV, state: { blocked: true }, repeated: true },
    ]);
    expect(await refusal(again("99"))).toMatchObject({ code: "not_found" });
    await run(opened.desk(), removeTarget, { name: "tv" });
    expect(await refusal(again(HARI_TV.cuid))).toMatchObject({ code: "conflict" });
  });
}
