import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { attributesOf, type Reply, refusedWith, startDevice } from "../../../radius/test/device.ts";
import { readRadiusConfig } from "../../src/domain/radius.ts";
import type { RadiusSession, SessionAnswer } from "../../src/domain/sessions.ts";
import type { RadiusConfig, Target } from "../../src/domain/target.ts";
import { blockConnection } from "../../src/office/corrections/operations.ts";
import { addTarget } from "../../src/office/targets/operations.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import { sessionsDueOf } from "../../src/store/sessions-due.ts";
import { addressGuard } from "../../src/targets/address-guard.ts";
import { createSessionTools } from "../../src/targets/radius-sessions.ts";
import { startDelivering } from "../../src/workers/deliver-events.ts";
import { startEndingSessions } from "../../src/workers/end-sessions.ts";
import { startTellingEnds } from "../../src/workers/tell-ends.ts";
import { asJson } from "../domain/builders.ts";
import { OWN_NETWORKS, run } from "../support/desk.ts";
import { startFreeRadius } from "../support/freeradius.ts";
import { isInstalled } from "../support/installed.ts";
import { emptyTables, postgresForRadius, type RadiusServer } from "../support/radius-databases.ts";
import { customer, openWorld, type World } from "../support/world.ts";

const PATIENT = { timeout: 20_000, interval: 20 };
const ACCEPTED: Reply = { code: 41 };

describe("sessions of RADIUS", () => {
  let server: RadiusServer;
  beforeAll(async () => {
    server = await postgresForRadius();
  });
  afterAll(() => server.close());
  afterEach(() => emptyTables(server));

  const configWith = (devices: object) => {
    const file = { database: server.url, timeZone: "UTC", groups: {}, sessions: { devices } };
    const read = readRadiusConfig(asJson(file), "internet");
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    return read.value;
  };
  const toolsFor = (config: RadiusConfig, isAllowed = true) => {
    const place = {
      clock: () => 1_795_413_600_999,
      guard: addressGuard(isAllowed ? OWN_NETWORKS : undefined),
      waitsMs: [20, 20, 20],
    };
    const tools = createSessionTools(config, place);
    onTestFinished(() => tools.close());
    return tools;
  };
  const SESSION: RadiusSession = {
    id: 1,
    username: "sita",
    sessionId: "A1",
    device: "10.0.0.1",
    framedAddress: undefined,
    caller: "AA",
  };

  const DEVICES: readonly (readonly [what: string, reply: Reply, secret: string, expected: SessionAnswer])[] = [
    ["accepts", ACCEPTED, "s", "accepted"],
    ["knows no such session", refusedWith(503), "s", "unknown"],
    ["refuses", refusedWith(506), "s", { problem: "10.0.0.1: refused, Error-Cause 506" }],
    ["refuses without a cause", { code: 42 }, "s", { problem: "10.0.0.1: refused" }],
    ["is silent", undefined, "s", "silent"],
    ["has another secret", ACCEPTED, "other", "silent"],
  ];
  test.each(DEVICES)("a device that %s", async (_, reply, secret, expected) => {
    const { device } = await startDevice(secret, () => reply);
    const tools = toolsFor(configWith({ "10.0.0.0/24": { ...device, secret: "s" } }));
    expect(await tools.end(SESSION)).toEqual(expected);
    expect(await tools.end({ ...SESSION, device: "10.0.1.1" })).toEqual({ problem: "no device for 10.0.1.1" });
  });

  const SECOND: readonly (readonly [what: string, second: Reply, expected: SessionAnswer])[] = [
    ["ends the session", ACCEPTED, "accepted"],
    ["does not know that either", refusedWith(503), "unknown"],
    ["wants more attributes", refusedWith(402), "unknown"],
    ["is silent", undefined, "silent"],
  ];
  test.each(SECOND)(
    "a device that knows no such session is asked by its id alone, and %s",
    async (_, second, expected) => {
      const { device, requests } = await startDevice("s", (request) =>
        attributesOf(request)[1] === undefined ? second : refusedWith(503),
      );
      const more = { attributes: { "NAS-Identifier": "bras1" } };
      const tools = toolsFor(configWith({ "10.0.0.1": { ...device, ...more } }));
      const session = { ...SESSION, username: "maya.rai3", sessionId: "81a00003", framedAddress: "10.11.0.3" };
      expect(await tools.end(session)).toBe(expected);
      const [first, alone] = [...new Map(requests.map((each) => [each[1], attributesOf(each)])).values()];
      expect(first).toMatchObject({ 1: "maya.rai3", 44: "81a00003", 8: expect.any(String), 32: "bras1" });
      expect(alone).toEqual({ 44: "81a00003", 32: "bras1", 80: expect.any(String) });
    },
  );

  test("a device is told what names the session, and the configured attributes", async () => {
    const { device, requests } = await startDevice("s", () => ACCEPTED);
    const more = { identify: ["Acct-Session-Id", "Calling-Station-Id"], attributes: { "NAS-Identifier": "bras1" } };
    const devices = { "10.0.0.1": device, "10.0.0.2": { ...device, ...more, timestamp: true } };
    const tools = toolsFor(configWith(devices));
    await tools.end({ ...SESSION, framedAddress: "10.1.0.7" });
    await tools.end({ ...SESSION, device: "10.0.0.2" });
    // A request whose answer is late is sent again, with the same number.
    const [plain, other] = [...new Map(requests.map((each) => [each[1], attributesOf(each)])).values()];
    expect(plain).toEqual({ 1: "sita", 44: "A1", 8: "\n\u0001\0\u0007", 80: expect.any(String) });
    const timestamp = Buffer.from([0x6b, 0x03, 0xf5, 0xe0]);
    timestamp.writeUInt32BE(1_795_413_600);
    expect(other).toEqual({
      44: "A1",
      31: "AA",
      32: "bras1",
      55: timestamp.toString("latin1"),
      80: expect.any(String),
    });
  });

  test("a device is at a private address only if the settings allow it", async () => {
    const { device, requests } = await startDevice("s", () => ACCEPTED);
    const tools = toolsFor(configWith({ "10.0.0.1": device }), false);
    const problem = "10.0.0.1: the address is private, and TOPUPD_PRIVATE_TARGETS does not allow it";
    expect(await tools.end(SESSION)).toEqual({ problem });
    expect(requests).toEqual([]);
  });

  test.skipIf(!isInstalled("FreeRADIUS"))(
    "are opened and ended by FreeRADIUS, which also plays the device",
    async () => {
      const missing = ["realm", "nasporttype", "acctauthentic", "connectinfo_start", "connectinfo_stop", "servicetype"];
      missing.push("acctterminatecause", "framedprotocol", "framedinterfaceid", "class");
      const [numbers, addresses] = [
        ["acctinterval", "acctsessiontime", "acctinputoctets", "acctoutputoctets"],
        ["framedipv6address", "framedipv6prefix", "delegatedipv6prefix"],
      ];
      const columns = [
        ...missing.map((name) => `ADD ${name} text`),
        ...numbers.map((name) => `ADD ${name} bigint`),
        ...addresses.map((name) => `ADD ${name} inet`),
      ];
      await server.query(`ALTER TABLE radacct ${columns.join(", ")}`);
      const radius = await startFreeRadius(server.url, "UTC");
      onTestFinished(() => radius.close());
      const account = (status: "Start" | "Stop", id: string) =>
        radius.account(`User-Name = sita, Acct-Session-Id = ${id}, NAS-IP-Address = 10.0.0.1, Calling-Station-Id = ${id},
        Framed-IP-Address = 10.1.0.7, NAS-Port-Id = ether1, Acct-Status-Type = ${status}`);
      await account("Start", "A1");
      await account("Start", "A2");
      const device = { ...radius.device, timestamp: true };
      const tools = toolsFor(configWith({ "10.0.0.1": device, "10.0.0.2": { ...device, secret: "another" } }));
      const sessions = await tools.open(["sita"]);
      const expected = { username: "sita", device: "10.0.0.1", framedAddress: "10.1.0.7" };
      expect(sessions).toMatchObject([
        { ...expected, sessionId: "A1", caller: "A1" },
        { ...expected, sessionId: "A2" },
      ]);
      const session = sessions[0] as RadiusSession;
      expect(await tools.end(session)).toBe("accepted");
      expect(await tools.end({ ...session, sessionId: "unknown" })).toBe("unknown");
      expect(await tools.end({ ...session, username: "stripped" })).toBe("accepted");
      expect(await tools.end({ ...session, device: "10.0.0.2" })).toBe("silent");
      const ended = async () => (await tools.states(sessions.map(({ id }) => id))).map((each) => each.ended);
      expect(await ended()).toEqual([false, false]);
      await account("Stop", "A1");
      expect(await ended()).toEqual([true, false]);
      expect(await tools.open(["sita"])).toMatchObject([{ sessionId: "A2" }]);
    },
  );

  /** Serves a world's target as the service does, in real time from the world's. */
  async function serve({ store, desk, ports, ...world }: World, turns?: "told") {
    const begun = Date.now();
    const clock = () => world.now + Date.now() - begun;
    const worker = {
      store: { outbox: outboxOf(store.engine), sessionsDue: sessionsDueOf(store.engine), provider: store.provider },
      ...{ clock, stopwatch: clock, random: ports.random, holder: `p${begun}`, log: () => {} },
      sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {}),
      createSender: (target: Target) => desk.targets.createSender(target, store),
      createSessionTools: (target: Target) => desk.targets.createSessionTools(target),
    };
    const workers = [startDelivering(worker), startEndingSessions(worker)];
    if (turns === "told") workers.push(startTellingEnds(worker));
    onTestFinished(async () => {
      for (const each of workers) await each.stop();
    });
    const due = () =>
      store.engine.db.selectFrom("sessionDue").select(["username", "state"]).orderBy("username").execute();
    return { due };
  }
  const insert = (username: string, id: string) =>
    server.query(`INSERT INTO radacct (acctsessionid, acctuniqueid, username, nasipaddress, callingstationid)
      VALUES ('${id}', '${id}', '${username}', '10.0.0.1', 'AA')`);
  const rows = async () => {
    const checks = await server.query("SELECT attribute, value FROM radcheck ORDER BY id");
    const groups = await server.query("SELECT groupname FROM radusergroup");
    return [...checks, ...groups].flatMap((row) => Object.values(row).join(" "));
  };

  test("a lapsed user in the garden pays, and the session in it ends; the end leads back", async () => {
    const world = await openWorld();
    const { device, requests } = await startDevice("s", (request) => {
      void server.query(`UPDATE radacct SET acctstoptime = now() WHERE acctsessionid = '${attributesOf(request)[44]}'`);
      return ACCEPTED;
    });
    const groups = { groups: { "Fiber 100": "100M" }, defaultGroup: "slow", expiredGroup: "garden" };
    const radius = { database: server.url, timeZone: "UTC", ...groups, sessions: { devices: { "10.0.0.1": device } } };
    await run(world.desk, addTarget, { name: "network", radius });
    await world.importCustomers([customer("1", { end: "2026-11-01 00:00:00" })]);
    const { due } = await serve(world);
    await expect.poll(rows, PATIENT).toEqual(["garden"]);
    await insert("net-1", "A1");
    expect(await due()).toEqual([]);

    await world.topUp("1");
    await expect.poll(due, PATIENT).toEqual([{ username: "net-1", state: "ended" }]);
    expect(await rows()).toEqual(["Expiration 20 Dec 2026 09:00:00", "100M"]);
    await world.topUp("1");
    await insert("net-1", "A2");
    await expect.poll(rows, PATIENT).toEqual(["Expiration 20 Jan 2027 09:00:00", "100M"]);
    expect(requests).toHaveLength(1);

    const [at, toldUntil] = [Date.parse("2027-01-20T09:00:02Z"), "2027-01-20 09:00:02"];
    const key = { environment: "production", cuid: "1", service: "internet", reqId: "net-1" } as const;
    const outbox = outboxOf(world.store.engine);
    const held = { lease: "ends", holder: "test" };
    await outbox.hold(held.lease, held.holder, world.now, at + 60_000);
    await outbox.tellTurns([{ key, kind: "end", at: "2027-01-20 09:00:00" }], { at, toldUntil }, held);
    await expect.poll(rows, PATIENT).toEqual(["garden"]);
    await expect.poll(() => requests.map((each) => attributesOf(each)[44]), PATIENT).toEqual(["A1", "A2"]);

    const block = { service: "internet", reqId: "net-1", blocked: true, reason: "x" } as const;
    world.now = at;
    await run(world.desk, blockConnection, block);
    await expect.poll(rows, PATIENT).toEqual(["Auth-Type Reject", "garden"]);
  });

  test("a plan with a later start becomes active when its start passes", async () => {
    const world = await openWorld();
    const { device, requests } = await startDevice("s", () => ACCEPTED);
    const groups = { groups: { "Fiber 100": "100M" }, defaultGroup: "slow", expiredGroup: "garden" };
    const radius = { database: server.url, timeZone: "UTC", ...groups, sessions: { devices: { "10.0.0.1": device } } };
    await run(world.desk, addTarget, { name: "network", radius });
    const startdate = world.store.provider.zone.wallTime(world.now + 4_000);
    const subscriptions = [{ code: "NET-1M", startdate, enddate: "2027-03-01 00:00:00" }];
    const internet = [{ username: "net-1", status: "active", subscriptions }];
    await world.importCustomers([customer("1", { connections: { internet } })]);
    await serve(world, "told");
    await expect.poll(rows, PATIENT).toEqual(["garden"]);
    await insert("net-1", "A1");
    expect(requests).toEqual([]);
    await expect.poll(rows, PATIENT).toEqual(["Expiration 01 Mar 2027 00:00:00", "100M"]);
    await expect.poll(() => requests.map((each) => attributesOf(each)[44]), PATIENT).toEqual(["A1"]);
  });

  test("sessions end that their device knows by another name, and one that goes on all the same has failed", async () => {
    const world = await openWorld();
    const known: Readonly<Record<string, string>> = { A1: "Net-1", A2: "net-2@blue.example" };
    const { device } = await startDevice("s", (request) => {
      const { 1: name, 44: id = "" } = attributesOf(request);
      if (!Object.hasOwn(known, id) || (name ?? known[id]) !== known[id]) return refusedWith(503);
      void server.query(`UPDATE radacct SET acctstoptime = now() WHERE acctsessionid = '${id}'`);
      return ACCEPTED;
    });
    const groups = { groups: {}, defaultGroup: "slow", expiredGroup: "garden" };
    const radius = { database: server.url, timeZone: "UTC", ...groups, sessions: { devices: { "10.0.0.1": device } } };
    const cuids = ["1", "2", "3", "4"];
    await world.importCustomers(cuids.map((cuid) => customer(cuid, { end: "2026-11-01 00:00:00" })));
    await run(world.desk, addTarget, { name: "network", radius });
    const { due } = await serve(world);
    for (const [index, username] of ["Net-1", "net-2", "net-3", "net-4"].entries())
      await insert(username, `A${index + 1}`);
    for (const cuid of ["1", "2", "3"]) await world.topUp(cuid);
    await run(world.desk, blockConnection, { service: "internet", reqId: "net-4", blocked: true, reason: "x" });
    const statesAre = (...states: readonly string[]) =>
      expect.poll(async () => (await due()).map(({ state }) => state), PATIENT).toEqual(states);
    await statesAre("ended", "ended", "unknown", "unknown");
    // By then, the worker has seen when each was last reported.
    await sleep(2_500);
    await server.query("UPDATE radacct SET acctupdatetime = now()");
    await statesAre("ended", "ended", "failed", "failed");
  });
});

test("a thousand extensions alter nothing", async () => {
  const world = await openWorld();
  const cuids = Array.from({ length: 1_000 }, (_, index) => String(index));
  await world.importCustomers(cuids.map((cuid) => customer(cuid, { end: "2026-12-01 00:00:00" })));
  await run(world.desk, addTarget, { name: "crm" });
  await world.importCustomers(cuids.map((cuid) => customer(cuid, { end: "2027-01-01 00:00:00" })));
  await world.topUp("1");
  const events = await outboxOf(world.store.engine).eventsAfter(0, 2_000);
  expect(events).toHaveLength(1_001);
  expect(events.filter((event) => "state" in event && event.state.was !== undefined)).toEqual([]);
});
