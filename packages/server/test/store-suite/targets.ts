import { expect, test } from "vitest";
import { SETTLED_AFTER_MS } from "../../src/domain/ledger-import.ts";
import { type DueUser, NEVER } from "../../src/domain/sessions.ts";
import type { WaitingDelivery } from "../../src/domain/target.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { readInput } from "../../src/office/input.ts";
import { changeTarget } from "../../src/office/targets/change.ts";
import { listEvents } from "../../src/office/targets/events.ts";
import {
  addTarget,
  listFailedDeliveries,
  listTargets,
  pauseTarget,
  removeTarget,
  resendToTarget,
  rotateTargetSecret,
  showTarget,
} from "../../src/office/targets/operations.ts";
import { detailLines } from "../../src/office/targets/presenter.ts";
import { lastEvent } from "../../src/store/events.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import { sessionsDueOf, tellUsers } from "../../src/store/sessions-due.ts";
import { by } from "../support/by.ts";
import { refusal, run } from "../support/desk.ts";
import { staffOf } from "../support/staff.ts";
import type { MakeDatabase } from "./database.ts";
import { type OpenedProvider, openProvider, RAM_TV, SITA_NET } from "./provider.ts";

const HOUR_MS = 3_600_000;
const WEBHOOK = { webhook: { url: "http://127.0.0.1:9/hook?key=hush" } };
const RADIUS = { database: "mysql://radius:hush@10.0.0.9/radius", groups: { Fiber: "100M" } };
const NOT_THERE = { code: "not_found", words: "there is no target named other: see the list of targets" };

/** Saves a target's progress, as the delivering service does. */
async function deliver(
  { store, now }: OpenedProvider,
  targetId: number,
  waiting: readonly WaitingDelivery[],
  isGone = false,
) {
  const held = { lease: `target:${targetId}`, holder: "test" };
  const place = await lastEvent(store.engine.db);
  await outboxOf(store.engine).hold(held.lease, held.holder, now, now + 20_000);
  const progress = { ...held, targetId, place, waiting, done: [], steps: [], logged: [], isGone };
  expect(await outboxOf(store.engine).saveProgress(progress)).toBe(true);
}

function failing(seq: number, now: number, setAside = false): WaitingDelivery {
  return { seq, attempts: 3, failedAt: now, nextAt: now + 30_000, setAside, problem: "status 500" };
}

const NOTED = {
  ...{ id: 1, username: "Sita", sessionId: "s1", device: "10.0.0.1", framedAddress: undefined, caller: undefined },
  ...{ attempts: 4, isAsked: false, nextAt: 0 },
};
const iso = (at: number) => new Date(at).toISOString();

/** Staff set up targets, and see how far each is. */
export function testTargets(makeDatabase: MakeDatabase): void {
  test("a target that answered 410 is paused and says so, also after another pause, until it is resumed", async () => {
    const opened = await openProvider(makeDatabase);
    const desk = opened.desk();
    const { target } = await run(desk, addTarget, { name: "tv", ...WEBHOOK });
    await deliver(opened, target.id, [], true);
    const gone = { ...target, paused: true, state: "gone" };
    expect(await run(desk, pauseTarget, { name: "tv", paused: true })).toEqual(gone);
    expect((await run(desk, listTargets, {})).items).toEqual([gone]);
    const detail = await run(desk, showTarget, { name: "tv" });
    expect(detailLines(detail).out).toMatch(/state +gone/);
    expect(await run(desk, pauseTarget, { name: "tv", paused: false })).toEqual(target);
    await deliver(opened, target.id, []);
    expect((await run(desk, listTargets, {})).items).toEqual([target]);
  });

  test("targets are added once, paused, rotated and removed, with an entry in the audit trail for each", async () => {
    const opened = await openProvider(makeDatabase);
    const desk = opened.desk();
    const { target, secret } = await run(desk, addTarget, { name: "tv", ...WEBHOOK });
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(target).toEqual({
      ...{ id: expect.any(Number), name: "tv", kind: "webhook", service: null, address: "http://127.0.0.1:9/hook" },
      ...{
        billing: false,
        paused: false,
        state: "up_to_date",
        createdAt: iso(opened.now),
        behind: 0,
        failing: 0,
        setAside: 0,
        oldestAt: null,
      },
    });
    expect(await refusal(run(desk, addTarget, { name: "tv" }))).toMatchObject({ code: "conflict" });
    for (const paused of [true, true, false])
      expect(await run(desk, pauseTarget, { name: "tv", paused })).toEqual({
        ...{ ...target, paused, state: paused ? "paused" : "up_to_date" },
      });
    expect(await run(desk, rotateTargetSecret, { name: "tv" })).toMatchObject({
      formerUntil: iso(opened.now + DAY_MS),
    });
    expect(await run(desk, removeTarget, { name: "tv" })).toBeUndefined();
    expect((await run(desk, listTargets, {})).items).toEqual([]);
    const trail = await listEntries(opened.store.engine.db, { subject: "tv" }, 10);
    const actions = ["target.remove", "target.rotate", "target.resume", "target.pause", "target.add"];
    expect(trail.map(({ action }) => action)).toEqual(actions);
    expect(JSON.parse(trail.at(-1)?.after ?? "")).toEqual({
      ...{ id: target.id, kind: "webhook", address: target.address, billing: false },
    });
    expect(JSON.stringify(trail)).not.toMatch(/whsec_|hush/);
  });

  test("a target is added by a name that shells and metrics take, and at a URL that may be called", async () => {
    const desk = (await openProvider(makeDatabase)).desk();
    for (const name of ["", "-tv", ".", "a b", "a/b", "tv\n", "x".repeat(65)])
      expect(() => readInput(addTarget.input, { name }), name).toThrow();
    expect(readInput(addTarget.input, { name: "x".repeat(64) })).toBeDefined();
    const add = (input: object) => refusal(run(desk, addTarget, { name: "a", ...input }));
    const problem = expect.stringContaining("leads to a private address");
    for (const host of ["192.168.1.1", "[::1]"]) {
      const refused = await add({ webhook: { url: `http://${host}/` } });
      expect(refused.problems).toEqual([{ field: "webhook.url", problem }]);
      const database = `mysql://radius@${host}/radius`;
      expect((await add({ radius: { database } })).problems).toEqual([{ field: "radius.database", problem }]);
    }
    const open = { url: WEBHOOK.webhook.url, allowPrivate: true };
    expect(() => readInput(addTarget.input, { name: "a", webhook: open })).toThrow();
    expect((await add({ ...WEBHOOK, radius: RADIUS })).problems).toMatchObject([{ field: "radius" }]);
    expect((await add({ billing: true, radius: RADIUS })).problems).toMatchObject([{ field: "billing" }]);
    expect((await add({ radius: { ...RADIUS, timeZone: "Mars", database: "x" } })).problems).toMatchObject([
      { field: "radius.database" },
      { field: "radius.timeZone" },
    ]);
    expect((await run(desk, listTargets, {})).items).toEqual([]);
  });

  test("a RADIUS target serves one service, and writes into a database of its own", async () => {
    const opened = await openProvider(makeDatabase);
    const desk = opened.desk();
    await run(desk, addTarget, { name: "network", radius: RADIUS });
    expect(await run(desk, showTarget, { name: "network" })).toMatchObject({
      ...{ kind: "radius", service: "internet", address: "mysql://radius@10.0.0.9/radius", timeZone: "UTC" },
      ...{ groups: RADIUS.groups, defaultGroup: null, acknowledgedUntil: null },
    });
    const device = { secret: "hush", attributes: { "NAS-Identifier": "a" } };
    const more = { defaultGroup: "slow", expiredGroup: "garden", sessions: { devices: { "10.0.0.1": device } } };
    const apart = { ...RADIUS, ...more, database: `${RADIUS.database}3` };
    await run(desk, addTarget, { name: "bras", radius: apart });
    const shown = await run(desk, showTarget, { name: "bras" });
    expect(shown).toMatchObject({ expiredGroup: "garden", devices: ["10.0.0.1"], openSessions: [] });
    const trail = await opened.store.engine.db.selectFrom("auditEntry").select("after").execute();
    expect(trail.at(-1)?.after).toContain('"expiredGroup":"garden","devices":["10.0.0.1"]');
    expect(JSON.stringify([shown, trail])).not.toContain("hush");
    const adding = (changes: object, range = "10.0.0.1") => {
      const sessions = { devices: { [range]: { ...device, ...changes } } };
      return refusal(run(desk, addTarget, { name: "x", radius: { ...apart, sessions } }));
    };
    const field = "radius.sessions.devices.10.0.0.1";
    const leads = { problem: expect.stringContaining("leads to a private address") };
    expect((await adding({ address: "192.168.1.1" })).problems).toMatchObject([{ field, ...leads }]);
    expect((await adding({}, "192.168.1.1")).problems).toMatchObject([leads]);
    const ofAttributes = async (attributes: object) => (await adding({ attributes })).problems;
    expect(await ofAttributes({ Class: "1" })).toMatchObject([{ field: `${field}.attributes.Class` }]);
    expect(await ofAttributes({ "NAS-Port": "x" })).toMatchObject([{ field: `${field}.attributes.NAS-Port` }]);
    const same = { database: "mariadb://iptv:pass@10.0.0.9:3306/radius?sslmode=no-verify", service: "iptv" } as const;
    const refused = refusal(run(desk, addTarget, { name: "iptv", radius: same }));
    const problem = "is that of the target network: give each target a database of its own";
    expect((await refused).problems).toEqual([{ field: "radius.database", problem }]);
    const own = { ...same, database: `${RADIUS.database}2` };
    expect(await run(desk, addTarget, { name: "iptv", radius: own })).toMatchObject({ target: { service: "iptv" } });
  });

  test("the file of a RADIUS target is replaced in place: its sessions that are still due begin anew", async () => {
    const opened = await openProvider(makeDatabase);
    const [desk, { engine }] = [opened.desk(), opened.store];
    const withDevice = (device: { readonly secret: string; readonly port: number }) => ({
      ...RADIUS,
      sessions: { devices: { "10.0.0.1": device } },
    });
    await run(desk, addTarget, { name: "tv", ...WEBHOOK });
    const radius = { ...withDevice({ secret: "hush", port: 1700 }), service: "tv" } as const;
    const { target } = await run(desk, addTarget, { name: "network", radius });
    await opened.topUp(SITA_NET, "NET-1M");
    await deliver(opened, target.id, [failing(1, opened.now)]);
    const told = (username: string, dueAt?: number) => ({ username, seq: 1, at: 1, alters: true, dueAt });
    await engine.transact((tx) => tellUsers(tx, target.id, [told("sita", 10), told("ram", 10), told("hari")]));
    const sessions = sessionsDueOf(engine);
    const [ram, sita] = (await sessions.open(target.id, "", 10)) as [DueUser, DueUser];
    const later = { attempts: 4, nextAt: opened.now + HOUR_MS };
    const silent = { ...sita, ...later, state: "failed", problem: "silent", sessions: [NOTED] } as const;
    await outboxOf(engine).hold("sessions", "a", opened.now, opened.now + 20_000);
    const ended = { ...ram, state: "ended", endedAt: 20, nextAt: NEVER } as const;
    const ending = { lease: "sessions", holder: "a" };
    await sessions.save(target.id, [ended, silent], 0, ending);

    const change = (file: object, name = "network") =>
      run(desk, changeTarget, { name, radius: { ...RADIUS, ...file } as typeof radius });
    const states = async () =>
      (await engine.db.selectFrom("sessionDue").selectAll().orderBy("username").execute()).map((row) => row.state);
    const file = withDevice({ secret: "hush2", port: 1700 });
    expect(await change(file)).toEqual((await run(desk, listTargets, {})).items[1]);
    expect(await run(desk, showTarget, { name: "network" })).toMatchObject({
      id: target.id,
      service: "tv",
      failing: 1,
    });
    const anew = { username: "sita", state: "due", attempts: 0, nextAt: opened.now + 2_000, sessions: [] };
    expect(await sessions.save(target.id, [silent], 0, ending)).toEqual([silent]);
    expect(await sessions.open(target.id, "", 10)).toMatchObject([anew]);
    expect(await states()).toEqual(["due", "ended", "due"]);
    const entries = async () =>
      (await listEntries(engine.db, { action: "target.change" }, 10)).map(({ after }) => after);
    await change(file);
    const paths = { changed: ["sessions.devices.10.0.0.1.secret"] };
    expect((await entries()).map((after) => JSON.parse(after ?? ""))).toMatchObject([paths]);
    expect(JSON.stringify(await entries())).not.toContain("hush");

    const problem = "cannot change: add another target";
    const other = await refusal(change({ ...file, service: "internet" }));
    expect(other.problems).toEqual([{ field: "radius.service", problem }]);
    expect((await refusal(change({ expiredGroup: "x" }))).problems).toMatchObject([{ field: "radius.expiredGroup" }]);
    expect(await refusal(change(file, "tv"))).toMatchObject({ code: "conflict", words: "tv is not of kind radius" });
    await change({});
    expect(await states()).toEqual(["ended"]);
    expect(await entries()).toHaveLength(2);
  });

  test("a target begins with events after it was added, and has a new number", async () => {
    const opened = await openProvider(makeDatabase);
    const add = async () => (await run(opened.desk(), addTarget, { name: "crm" })).target;
    const { id } = await add();
    await opened.topUp(SITA_NET, "NET-1M");
    await run(opened.desk(), removeTarget, { name: "crm" });
    opened.now += 1;
    expect((await add()).id).not.toBe(id);
    await opened.topUp(SITA_NET, "NET-1M");
    expect((await run(opened.desk(), listTargets, {})).items).toMatchObject([{ behind: 1, oldestAt: iso(opened.now) }]);
    expect((await run(opened.desk(), listEvents, { target: "crm" })).items).toHaveLength(1);
  });

  test("a new secret ends no other before the time promised for it", async () => {
    const opened = await openProvider(makeDatabase);
    const secrets = async () => (await outboxOf(opened.store.engine).targets())[0]?.secrets;
    const { secret: first } = await run(opened.desk(), addTarget, { name: "tv", ...WEBHOOK });
    const promised: { secret: string | null; until: number | undefined }[] = [{ secret: first, until: undefined }];
    for (let times = 0; times < 3; times += 1) {
      opened.now += 60_000;
      const { secret, formerUntil } = await run(opened.desk(), rotateTargetSecret, { name: "tv" });
      const until = opened.now + DAY_MS;
      expect(formerUntil).toBe(iso(until));
      promised.splice(0, 1, { secret, until: undefined }, { secret: promised[0]?.secret ?? "", until });
      expect(await secrets()).toEqual(promised);
    }
    opened.now = promised.at(-1)?.until ?? 0;
    await run(opened.desk(), rotateTargetSecret, { name: "tv" });
    expect(await secrets()).toHaveLength(4);
    await run(opened.desk(), addTarget, { name: "crm" });
    expect(await refusal(run(opened.desk(), rotateTargetSecret, { name: "crm" }))).toMatchObject({ code: "conflict" });
  });

  test("failed deliveries are listed with their events, and are resent on request", async () => {
    const opened = await openProvider(makeDatabase);
    const { target } = await run(opened.desk(), addTarget, { name: "tv", ...WEBHOOK });
    await opened.topUp(SITA_NET, "NET-1M");
    await opened.topUp(RAM_TV, "TV-1M");
    await deliver(opened, target.id, [failing(1, opened.now, true), failing(2, opened.now)]);
    const failed = async () => (await run(opened.desk(), listFailedDeliveries, { name: "tv" })).items;
    const [first, second] = await failed();
    expect(first).toEqual({
      ...{ ...SITA_NET, partner: null, id: `evt_${opened.now}_1`, kind: "topup.recorded", attempts: 3, setAside: true },
      ...{ failedAt: iso(opened.now), nextAt: iso(opened.now + 30_000), problem: "status 500" },
    });
    expect(second).toMatchObject({ reqId: RAM_TV.reqId, setAside: false });
    expect((await run(opened.desk(), listTargets, {})).items).toMatchObject([{ behind: 2, failing: 1, setAside: 1 }]);
    opened.now += HOUR_MS;
    expect(await run(opened.desk(), resendToTarget, { name: "tv" })).toEqual({ resent: 2 });
    const again = { setAside: false, attempts: 0, failedAt: null, nextAt: iso(opened.now) };
    expect(await failed()).toMatchObject([again, again]);
    const [entry] = await listEntries(opened.store.engine.db, { subject: "tv" }, 1);
    expect([entry?.action, entry?.after]).toEqual(["target.resend", '{"resent":2}']);
  });

  test("a target that does not exist is refused by every operation", async () => {
    const desk = (await openProvider(makeDatabase)).desk();
    const [name, paused] = ["other", true];
    for (const of of [showTarget, removeTarget, rotateTargetSecret, resendToTarget, listFailedDeliveries])
      expect(await refusal(run(desk, of as typeof removeTarget, { name }))).toMatchObject(NOT_THERE);
    expect(await refusal(run(desk, pauseTarget, { name, paused }))).toMatchObject(NOT_THERE);
    expect(await refusal(run(desk, listEvents, { target: name }))).toMatchObject(NOT_THERE);
  });

  test("billing has every top-up until before the oldest event that it lacks, but for the last minute", async () => {
    const opened = await openProvider(makeDatabase);
    const { txnId } = await opened.topUp(RAM_TV, "TV-1M");
    const { target } = await run(opened.desk(), addTarget, { name: "billing", ...WEBHOOK, billing: true });
    await run(opened.desk(), addTarget, { name: "tv" });
    const until = async (name = "billing") => (await run(opened.desk(), showTarget, { name })).acknowledgedUntil;
    const added = opened.now;
    opened.now = added + SETTLED_AFTER_MS - 1;
    expect(await until()).toBeNull();
    opened.now += 1;
    expect(await until()).toBe(iso(added));
    opened.now += HOUR_MS;
    await opened.topUp(SITA_NET, "NET-1M");
    expect(await until()).toBe(iso(opened.now - SETTLED_AFTER_MS));
    const lacking = iso(opened.now - 31_000);
    opened.now += HOUR_MS;
    await opened.topUp(SITA_NET, "NET-1M");
    opened.now += HOUR_MS;
    expect(await until()).toBe(lacking);
    for (const setAside of [false, true]) {
      await deliver(opened, target.id, [failing(1, opened.now, setAside)]);
      expect(await until()).toBe(lacking);
    }
    await deliver(opened, target.id, []);
    await run(opened.desk(), resendToTarget, { name: "billing" });
    expect(await until("tv")).toBeNull();
    await run(opened.desk(), removeTarget, { name: "billing" });
    await run(opened.desk(), addTarget, { name: "billing", billing: true });
    opened.now += HOUR_MS;
    await opened.reverse(txnId);
    const reversed = iso(opened.now - 31_000);
    opened.now += HOUR_MS;
    expect(await until()).toBe(reversed);
  });

  async function openFeed() {
    const opened = await openProvider(makeDatabase);
    await opened.topUp(SITA_NET, "NET-1M");
    await run(opened.desk(), addTarget, { name: "crm" });
    for (const blocked of [true, false, true]) {
      opened.now += 60_000;
      await opened.block(RAM_TV, blocked);
    }
    const read = async (input: object = { target: "crm" }) => run(opened.desk(), listEvents, input);
    const ids = async (input?: object) => (await read(input)).items.map(({ id }) => id);
    const all = await ids();
    const [first = "", second = "", third = ""] = all;
    expect(all).toHaveLength(3);
    return { opened, read, ids, all, first, second, third };
  }

  test("a feed begins with events after it was added, and its place moves on with a cursor, never back", async () => {
    const { read, ids, all, first, second, third } = await openFeed();
    expect(await read({ target: "crm", limit: 2 })).toMatchObject({
      ...{ items: [{ type: "connection.blocked" }, { type: "connection.unblocked" }], cursor: second },
    });
    expect(await ids()).toEqual(all);
    expect(await ids({ target: "crm", after: second })).toEqual([third]);
    expect(await ids()).toEqual([third]);
    expect(await ids({ target: "crm", after: first })).toEqual([second, third]);
    expect(await ids()).toEqual([third]);
    expect(await read({ target: "crm", after: third })).toEqual({ items: [], cursor: null });
    expect(await ids({ after: first })).toEqual([second, third]);
    expect(await ids({ after: "" })).toEqual(all);
  });

  test("a feed goes on from its place though the event there is kept no more, and from no cursor before it", async () => {
    const { opened, ids, first, second, third } = await openFeed();
    await ids({ target: "crm", after: second });
    while ((await outboxOf(opened.store.engine).forget(0)) > 0);
    expect(await ids({ target: "crm", after: second })).toEqual([third]);
    const refused = await refusal(ids({ target: "crm", after: first }));
    expect(refused).toMatchObject({ code: "conflict", words: expect.stringMatching(/^no event of this id is kept/) });
    // Reading without a target needs only an event that existed.
    expect(await ids({ after: first })).toEqual([third]);
  });

  test("a feed takes no cursor that it did not give, and its place stays", async () => {
    const { opened, ids, all } = await openFeed();
    const { now } = opened;
    for (const after of ["null", "7", `evt_${now}_4`, `evt_${now + 1}_3`, `evt_${now}_0`])
      expect(await refusal(ids({ target: "crm", after })), after).toMatchObject({ code: "conflict" });
    expect(await refusal(ids({ after: `evt_${now}_4` }))).toMatchObject({ code: "conflict" });
    expect(await ids()).toEqual(all);
  });

  test("events are read of a feed alone that is not paused, and only an admin moves its place", async () => {
    const { opened, ids, first } = await openFeed();
    const { store } = opened;
    await run(opened.desk(), addTarget, { name: "tv", ...WEBHOOK });
    expect(await refusal(ids({ target: "tv" }))).toMatchObject({
      ...{ code: "conflict", words: "tv is no feed: topupd serve sends it its events" },
    });
    const authority = await staffOf(store).addKey("crm", "viewer", by(opened.now));
    const desk = { ...opened.desk(), actor: { name: "crm", authority } };
    expect((await run(desk, listEvents, { target: "crm" })).items).toHaveLength(3);
    const moved = run(desk, listEvents, { target: "crm", after: first });
    expect(await refusal(moved)).toMatchObject({ code: "forbidden" });
    await run(opened.desk(), pauseTarget, { name: "crm", paused: true });
    expect(await refusal(ids())).toMatchObject({ code: "conflict", words: "crm is paused" });
  });
}
