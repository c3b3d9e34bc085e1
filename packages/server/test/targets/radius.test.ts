import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connectionOf, makeProvider, PartnerClient } from "../../campaign/partner.ts";
import { expectTopupd, startServing } from "../../campaign/processes.ts";
import { DeliveryFailed, type OpenExchange, type RadiusConfig, type Sender } from "../../src/domain/target.ts";
import { createRadiusSender } from "../../src/targets/radius.ts";
import { isInstalled } from "../support/debian-programs.ts";
import { PASSWORD, startFreeRadius } from "../support/freeradius.ts";
import {
  emptyTables,
  mariaDbForRadius,
  postgresForRadius,
  type RadiusServer,
  type Row,
} from "../support/radius-databases.ts";
import { temporaryFolder } from "../support/service.ts";
import { KATHMANDU, type RadiusEvent, radiusEvent } from "./radius-events.ts";
import { alertEvent } from "./receivers.ts";

const hasMariaDb = isInstalled("mariadb");
const hasFreeRadius = isInstalled("freeradius");

const NOON = Date.parse("2026-12-01T12:00:00Z");
const never = new AbortController().signal;

const CHECKS = "SELECT username, attribute, op, value FROM radcheck ORDER BY id";
const GROUPS = "SELECT username, groupname, priority FROM radusergroup";

function configOf(database: string, changes: Partial<RadiusConfig> = {}): RadiusConfig {
  const groups = { FBR60: "60M", FBR100: "100M" };
  const plain = { kind: "radius", timeZone: "UTC", groups, defaultGroup: "slow", service: "internet" } as const;
  return { ...plain, database, ...changes };
}

function senderTo(config: RadiusConfig): Sender {
  const sender = createRadiusSender(config, { zone: KATHMANDU });
  onTestFinished(() => sender.close());
  return sender;
}

const SERVERS = [
  { name: "PostgreSQL", isThere: true, start: postgresForRadius },
  { name: "MariaDB", isThere: hasMariaDb, start: mariaDbForRadius },
];

const there = SERVERS.filter(({ isThere }) => isThere);

describe.each(there)("RADIUS on $name", ({ name, start }) => {
  let server: RadiusServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  afterEach(() => emptyTables(server));

  /** A sender of events, and its database. */
  function open(changes: Partial<RadiusConfig> = {}) {
    const sender = senderTo(configOf(server.url, changes));
    const send = async (event: RadiusEvent) => {
      const exchange: OpenExchange = {};
      await sender.send(radiusEvent(event), never, exchange);
      return exchange;
    };
    return { ...server, send };
  }

  async function rowsOf({ query }: Pick<RadiusServer, "query">): Promise<{ checks: string[]; groups: string[] }> {
    const words = (rows: Row[]) => rows.map((row) => Object.values(row).join(" "));
    return { checks: words(await query(CHECKS)), groups: words(await query(GROUPS)).toSorted() };
  }

  test("a top-up sets the end and the group, and a second time nothing", async () => {
    const radius = open();
    const added = ["fiber1  Expiration: nothing -> 01 Dec 2026 12:00:00", "fiber1  group: nothing -> 60M"];
    expect(await radius.send({ end: NOON })).toEqual({ request: added.join("\n") });
    const rows = { checks: ["fiber1 Expiration := 01 Dec 2026 12:00:00"], groups: ["fiber1 60M 1"] };
    expect(await rowsOf(radius)).toEqual(rows);
    const before = await radius.query("SELECT * FROM radcheck");
    expect(await radius.send({ end: NOON })).toEqual({ request: "" });
    expect(await radius.query("SELECT * FROM radcheck")).toEqual(before);
  });

  test("a block rejects until it is taken back, and is all that a user without subscriptions gets", async () => {
    const radius = open();
    await radius.query(
      "INSERT INTO radcheck (username, attribute, op, value) VALUES ('fiber1', 'Expiration', ':=', 'x')",
    );
    await radius.send({ kind: "connection.blocked", end: undefined, blocked: true });
    expect(await rowsOf(radius)).toEqual({
      checks: ["fiber1 Expiration := x", "fiber1 Auth-Type := Reject"],
      groups: [],
    });
    await radius.send({ kind: "connection.unblocked", end: undefined });
    expect((await rowsOf(radius)).checks).toEqual(["fiber1 Expiration := x"]);
  });

  test("a reversal that leaves nothing ends the user at its time, and does not when it comes again", async () => {
    const radius = open();
    await radius.send({ end: NOON });
    const at = Date.parse("2026-11-24T00:00:00Z");
    await radius.send({ kind: "topup.reversed", end: undefined, at });
    await radius.send({ kind: "topup.reversed", end: undefined, at: at + 60_000 });
    expect((await rowsOf(radius)).checks).toEqual(["fiber1 Expiration := 24 Nov 2026 00:00:00"]);
  });

  test("other attributes, groups and users are left alone", async () => {
    const radius = open();
    const insert = "INSERT INTO radcheck (username, attribute, op, value) VALUES";
    await radius.query(`${insert} ('fiber1', 'Cleartext-Password', ':=', 'pw'), ('fiber1', 'Auth-Type', ':=', 'PAP'),
      ('fiber1', 'Expiration', '==', '1 Jan 2020'), ('fiber1', 'Expiration', ':=', '2 Jan 2020'),
      ('fiber2', 'Expiration', ':=', '1 Jan 2020'), ('fiber2', 'Auth-Type', ':=', 'Reject')`);
    await radius.query(
      `INSERT INTO radusergroup VALUES ('fiber1', 'staff', 3), ('fiber1', '100M', 5), ('fiber2', '60M', 7)`,
    );
    await radius.send({ end: NOON });
    expect(await rowsOf(radius)).toEqual({
      checks: [
        "fiber1 Cleartext-Password := pw",
        "fiber1 Auth-Type := PAP",
        "fiber1 Expiration := 01 Dec 2026 12:00:00",
        "fiber2 Expiration := 1 Jan 2020",
        "fiber2 Auth-Type := Reject",
      ],
      groups: ["fiber1 60M 5", "fiber1 staff 3", "fiber2 60M 7"],
    });
  });

  test("a user is in one of the groups alone, and in the default one with another plan", async () => {
    const radius = open();
    await radius.query(
      "INSERT INTO radusergroup VALUES ('fiber1', '60M', 5), ('fiber1', '60M', 5), ('fiber1', 'slow', 5)",
    );
    await radius.send({ end: NOON, plan: "FBR100" });
    expect((await rowsOf(radius)).groups).toEqual(["fiber1 100M 1"]);
    await radius.send({ end: NOON, plan: "FBR300" });
    expect((await rowsOf(radius)).groups).toEqual(["fiber1 slow 1"]);
  });

  test("trial, other services of the same username, and alerts are passed over", async () => {
    const radius = open();
    await radius.send({ end: NOON, environment: "trial" });
    await radius.send({ end: NOON, service: "iptv" });
    await senderTo(configOf(server.url)).send(alertEvent(1), never);
    expect(await rowsOf(radius)).toEqual({ checks: [], groups: [] });
  });

  test("two processes that write the same users at once leave one row of each kind", async () => {
    const { url, query } = server;
    const [one, another] = [senderTo(configOf(url)), senderTo(configOf(url))];
    const events = Array.from({ length: 32 }, (_, index) => `fiber${index}`).flatMap((reqId) => [
      one.send(radiusEvent({ reqId, end: NOON }), never),
      another.send(radiusEvent({ reqId, end: NOON, plan: "FBR100", blocked: true }), never),
    ]);
    expect(await Promise.allSettled(events)).not.toContainEqual(expect.objectContaining({ status: "rejected" }));
    const ends = await query("SELECT username FROM radcheck WHERE attribute = 'Expiration'");
    const groups = await query("SELECT username FROM radusergroup");
    for (const rows of [ends, groups])
      expect([rows.length, new Set(rows.map((row) => row["username"])).size]).toEqual([32, 32]);
  });

  test("a statement that is held up is given up in time, and is never made up for", async () => {
    const { url, query } = server;
    const sender = senderTo(configOf(url));
    await sender.send(radiusEvent({ end: NOON }), never);
    const held = await holdRows(server);
    const sending = sender.send(radiusEvent({ end: NOON + 60_000 }), AbortSignal.timeout(300));
    await expect(sending).rejects.toThrow(new DeliveryFailed("the RADIUS database did not answer in time"));
    await held.over;
    expect((await query(CHECKS))[0]).toMatchObject({ value: "01 Dec 2026 12:00:00" });
    await sender.send(radiusEvent({ end: NOON + 60_000 }), never);
    expect((await query(CHECKS))[0]).toMatchObject({ value: "01 Dec 2026 12:01:00" });
  });

  test("why it fails is said without a name or password", async () => {
    const { url, otherUrl } = server;
    await expect(senderTo(configOf(otherUrl)).send(radiusEvent({ end: NOON }), never)).rejects.toThrow(
      new DeliveryFailed("the RADIUS database lacks radcheck or radusergroup"),
    );
    const nowhere = new URL(url);
    nowhere.port = "1";
    await expect(senderTo(configOf(nowhere.href)).send(radiusEvent({ end: NOON }), never)).rejects.toThrow(
      new DeliveryFailed("the RADIUS database refuses connections"),
    );
  });

  test("a server that says nothing is given up in time, and holds up no closing", async () => {
    const silent = new URL(server.url);
    silent.port = String(await silentPort());
    const sender = createRadiusSender(configOf(silent.href), { zone: KATHMANDU });
    const sending = sender.send(radiusEvent({ end: NOON }), AbortSignal.timeout(200));
    await expect(sending).rejects.toThrow("the RADIUS database did not answer in time");
    await sender.close();
  });

  // The tests above check the rows on every engine, so one engine is enough here.
  if (name === there.at(-1)?.name)
    test.skipIf(!hasFreeRadius)(
      "a partner's top-up lets a lapsed user in; a reversal and a block shut it out",
      async () => {
        const { url, query } = server;
        const timeZone = "America/New_York";
        const radius = await startFreeRadius(url, timeZone);
        onTestFinished(() => radius.close());
        const insert = "INSERT INTO radcheck (username, attribute, op, value) VALUES";
        await query(`${insert} ('u1', 'Cleartext-Password', ':=', '${PASSWORD}'),
          ('u1', 'Expiration', ':=', '01 Nov 2026 00:00:00')`);
        await query(
          "INSERT INTO radgroupreply (groupname, attribute, op, value) VALUES ('60M', 'Filter-Id', ':=', '60M')",
        );

        const ground = { cwd: temporaryFolder() };
        const token = await makeProvider(ground);
        const file = join(ground.cwd, "radius.json");
        writeFileSync(file, JSON.stringify({ database: url, timeZone, groups: { Fiber: "60M" } }));
        await expectTopupd(["target", "add", "radius", "--kind", "radius", "--config", file], ground);
        const served = await startServing(ground, 2);
        onTestFinished(async () => void (await served.end("SIGTERM")));
        const client = new PartnerClient(served.url, token);
        const topUp = async () => {
          const { checkoutId } = await client.list(1);
          await client.topUp({ ...connectionOf(1), checkoutId, bouquetId: "NET-1M", amt: "1130" });
          return checkoutId;
        };
        const becomes = (accepted: boolean) =>
          expect.poll(() => radius.test("u1"), { timeout: 15_000, interval: 50 }).toMatchObject({ accepted });

        expect(await radius.test("u1")).toMatchObject({ accepted: false });
        const checkoutId = await topUp();
        await becomes(true);
        const { sessionTimeout = 0, filterId } = await radius.test("u1");
        expect(filterId).toBe("60M");
        expect(sessionTimeout).toBeGreaterThan(28 * DAY_SECONDS - 60);
        expect(sessionTimeout).toBeLessThanOrEqual(31 * DAY_SECONDS);
        await expectTopupd(["transaction", "reverse", checkoutId, "--reason", "paid twice"], ground);
        await becomes(false);
        await topUp();
        await becomes(true);
        await expectTopupd(["connection", "block", "internet", "u1", "--reason", "modem stolen"], ground);
        await becomes(false);
        expect(await expectTopupd(["target", "reconcile", "radius", "--preview", "--json"], ground)).toBe("");
      },
      60_000,
    );
});

const DAY_SECONDS = 24 * 3600;

/** Locks all rows of radcheck for a second. */
async function holdRows({ url, query }: RadiusServer): Promise<{ readonly over: Promise<unknown> }> {
  if (url.startsWith("postgres")) {
    const over = query("BEGIN; UPDATE radcheck SET op = op; SELECT pg_sleep(1); COMMIT");
    const locks = "SELECT 1 FROM pg_locks WHERE mode = 'RowExclusiveLock' AND relation = 'radcheck'::regclass";
    await expect.poll(async () => (await query(locks)).length).toBe(1);
    return { over };
  }
  await query("START TRANSACTION");
  await query("SELECT * FROM radcheck FOR UPDATE");
  return { over: query("SELECT SLEEP(1)").then(() => query("COMMIT")) };
}

/** The port of a server that accepts connections and never answers. */
async function silentPort(): Promise<number> {
  const server: Server = createServer((socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}
