import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RadiusDifference } from "../../src/domain/radius.ts";
import type { RadiusConfig } from "../../src/domain/target.ts";
import { setBlocked } from "../../src/services/staff/connections.ts";
import { reconcileRadius } from "../../src/targets/radius-reconcile.ts";
import { ACTOR, customer, openWorld, type World } from "../services/world.ts";
import { emptyTables, postgresForRadius, type RadiusServer } from "../support/radius-databases.ts";

let server: RadiusServer;
let config: RadiusConfig;
beforeAll(async () => {
  server = await postgresForRadius();
  const groups = { "Fiber 100": "100M", "Fiber 300": "300M" };
  config = {
    ...{ kind: "radius", database: server.url, timeZone: "UTC", groups },
    ...{ defaultGroup: undefined, service: "internet" },
  };
});
afterAll(() => server.close());
beforeEach(() => emptyTables(server));

async function reconcile({ ports }: Pick<World, "ports">, dryRun = false) {
  const told: string[] = [];
  const tell = ({ username, kind, found, wanted }: RadiusDifference) =>
    told.push(`${username} ${kind}: ${found.map(({ value }) => value).join(", ")} -> ${wanted ?? "none"}`);
  const reconciled = await reconcileRadius(ports, config, { dryRun }, tell);
  return { ...reconciled, told };
}

async function checks(): Promise<string[]> {
  const rows = await server.query("SELECT username, attribute, value FROM radcheck ORDER BY username, id");
  return rows.map((row) => Object.values(row).join(" "));
}

test("each difference is told, and mended unless it is a dry run", async () => {
  const world = await openWorld();
  const block = (reqId: string) => {
    const request = { reqId, service: undefined, environment: undefined, cuid: undefined, blocked: true, reason: "x" };
    return setBlocked(world.ports, ACTOR, request);
  };
  await world.importCustomers([
    customer("1", { end: "2026-12-01 00:00:00" }),
    customer("2", { end: "2026-10-01 00:00:00" }),
    customer("3"),
    customer("4"),
  ]);
  await block("net-2");
  await block("net-4");
  const insert = "INSERT INTO radcheck (username, attribute, op, value) VALUES";
  await server.query(`${insert} ('net-1', 'Expiration', ':=', '01 Dec 2027 00:00:00'),
    ('net-3', 'Expiration', ':=', '01 Dec 2027 00:00:00'), ('guest', 'Auth-Type', ':=', 'Reject')`);
  await server.query("INSERT INTO radusergroup VALUES ('net-1', '300M', 1), ('net-2', '100M', 1)");

  const before = await checks();
  const told = [
    "net-1 Expiration: 01 Dec 2027 00:00:00 -> 01 Dec 2026 00:00:00",
    "net-1 group: 300M -> 100M",
    "net-2 Expiration:  -> 01 Oct 2026 00:00:00",
    "net-2 Auth-Type:  -> Reject",
    "net-4 Auth-Type:  -> Reject",
  ];
  expect(await reconcile(world, true)).toEqual({ compared: 3, differing: 3, told });
  expect(await checks()).toEqual(before);
  expect(await reconcile(world)).toEqual({ compared: 3, differing: 3, told });
  expect(await checks()).toEqual([
    "guest Auth-Type Reject",
    "net-1 Expiration 01 Dec 2026 00:00:00",
    "net-2 Expiration 01 Oct 2026 00:00:00",
    "net-2 Auth-Type Reject",
    "net-3 Expiration 01 Dec 2027 00:00:00",
    "net-4 Auth-Type Reject",
  ]);
  expect(await reconcile(world)).toEqual({ compared: 3, differing: 0, told: [] });
});

test("a user whose subscriptions are all gone ends now, once", async () => {
  const world = await openWorld();
  await world.importCustomers([customer("1", { end: "2026-12-01 00:00:00" })]);
  await world.importCustomers([customer("1")], { allowShorter: ["1"] });
  expect((await reconcile(world)).told).toEqual(["net-1 Expiration:  -> 20 Nov 2026 09:00:00"]);
  world.now += 60_000;
  expect((await reconcile(world)).told).toEqual([]);
});

test("a top-up that comes while a user is mended is not undone", async () => {
  const world = await openWorld();
  await world.importCustomers([customer("1", { end: "2026-12-01 00:00:00" })]);
  const { store } = world.ports;
  let looks = 0;
  // The top-up comes before what the first look has found is written.
  const findConnection: typeof store.findConnection = async (key) => {
    const found = await store.findConnection(key);
    looks += 1;
    if (looks === 1) await world.topUp("1");
    return found;
  };
  await reconcile({ ports: { ...world.ports, store: { ...store, findConnection } } });
  expect(await checks()).toEqual(["net-1 Expiration 01 Jan 2027 00:00:00"]);
});

test("more users than a page and a portion hold are all compared", async () => {
  const world = await openWorld();
  const cuids = Array.from({ length: 1_010 }, (_, index) => String(index));
  await world.importCustomers(cuids.map((cuid) => customer(cuid, { end: "2026-12-01 00:00:00" })));
  const values = cuids.map((cuid) => `('net-${cuid}', 'Expiration', ':=', '01 Dec 2026 00:00:00')`);
  await server.query(`INSERT INTO radcheck (username, attribute, op, value) VALUES ${values.slice(1).join()}`);
  await server.query(`INSERT INTO radusergroup SELECT username, '100M', 1 FROM radcheck`);
  expect(await reconcile(world, true)).toMatchObject({ compared: 1_010, differing: 1 });
});
