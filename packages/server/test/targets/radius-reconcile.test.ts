import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { RadiusDifference } from "../../src/domain/radius.ts";
import type { RadiusConfig } from "../../src/domain/target.ts";
import { blockConnection } from "../../src/office/corrections/operations.ts";
import { addressGuard } from "../../src/targets/address-guard.ts";
import { reconcileRadius } from "../../src/targets/radius.ts";
import { OWN_NETWORKS, run } from "../support/desk.ts";
import { emptyTables, postgresForRadius, type RadiusServer } from "../support/radius-databases.ts";
import { customer, openWorld, type World } from "../support/world.ts";

describe("reconciling RADIUS", () => {
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

  async function reconcile({ ports }: Pick<World, "ports">, isPreview = false) {
    const told: string[] = [];
    const tell = ({ username, kind, found, wanted }: RadiusDifference) =>
      told.push(`${username} ${kind}: ${found.map(({ value }) => value).join(", ")} -> ${wanted ?? "none"}`);
    const reconciled = await reconcileRadius(
      { ...ports, guard: addressGuard(OWN_NETWORKS) },
      config,
      { isPreview },
      tell,
    );
    return { ...reconciled, told };
  }

  async function checks(): Promise<string[]> {
    const rows = await server.query("SELECT username, attribute, value FROM radcheck ORDER BY username, id");
    return rows.map((row) => Object.values(row).join(" "));
  }

  test("each difference is given, and corrected unless it is a preview", async () => {
    const world = await openWorld();
    const block = (reqId: string) =>
      run(world.desk, blockConnection, { service: "internet", reqId, blocked: true, reason: "x" });
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

  test("a username in other case alone is found each time, and the others are corrected", async () => {
    const world = await openWorld();
    await world.importCustomers([
      customer("1", { end: "2026-12-01 00:00:00" }),
      customer("2", { end: "2026-12-01 00:00:00" }),
    ]);
    await server.query(
      "INSERT INTO radcheck (username, attribute, op, value) VALUES ('NET-1', 'Cleartext-Password', ':=', 'pw')",
    );
    const name = "net-1 username: NET-1 -> net-1";
    expect(await reconcile(world)).toEqual({
      ...{ compared: 2, differing: 2 },
      told: [name, "net-2 Expiration:  -> 01 Dec 2026 00:00:00", "net-2 group:  -> 100M"],
    });
    expect(await reconcile(world)).toEqual({ compared: 2, differing: 1, told: [name] });
    expect((await checks()).toSorted()).toEqual([
      "NET-1 Cleartext-Password pw",
      "net-2 Expiration 01 Dec 2026 00:00:00",
    ]);
  });

  test("a user whose subscriptions are all gone ends now, once", async () => {
    const world = await openWorld();
    await world.importCustomers([customer("1", { end: "2026-12-01 00:00:00" })]);
    await world.importCustomers([customer("1")], { allowShorter: ["1"] });
    expect((await reconcile(world)).told).toEqual(["net-1 Expiration:  -> 20 Nov 2026 09:00:00"]);
    world.now += 60_000;
    expect((await reconcile(world)).told).toEqual([]);
  });

  test("a top-up that comes while users are written is not undone", async () => {
    const world = await openWorld();
    await world.importCustomers([customer("1", { end: "2026-12-01 00:00:00" })]);
    const { store } = world.ports;
    let looks = 0;
    // The top-up arrives between the first read and the write.
    const raw = store.engine.db.withoutPlugins().withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        looks += 1;
        if (looks === 1) await world.topUp("1");
        return result;
      },
    });
    const db = Object.assign(store.engine.db.withTables(), { withoutPlugins: () => raw });
    await reconcile({ ports: { ...world.ports, store: { ...store, engine: { ...store.engine, db } } } });
    expect(looks).toBeGreaterThan(1);
    expect(await checks()).toEqual(["net-1 Expiration 01 Jan 2027 00:00:00"]);
  });

  test("a lapsed user is put into the garden, and a group of others that comes first is named each time", async () => {
    const world = await openWorld();
    await world.importCustomers([
      customer("1", { end: "2026-10-01 00:00:00" }),
      customer("2", { end: "2026-12-01 00:00:00" }),
    ]);
    const plain = config;
    onTestFinished(() => {
      config = plain;
    });
    config = { ...config, defaultGroup: "slow", expiredGroup: "garden" };
    await server.query(
      "INSERT INTO radcheck (username, attribute, op, value) VALUES ('net-1', 'Expiration', ':=', '01 Oct 2026 00:00:00')",
    );
    const groups = [
      "('net-1', '100M', 5)",
      "('net-1', 'vip', 4)",
      "('net-1', 'late', 6)",
      "('net-2', 'vip', 0)",
      "('net-2', 'even', 1)",
      "('net-2', 'late', 2)",
    ];
    await server.query(`INSERT INTO radusergroup VALUES ${groups.join(", ")}`);
    const hidden = [
      "net-1 first group: vip -> garden",
      "net-2 first group: vip -> 100M",
      "net-2 first group: even -> 100M",
    ];
    const fixed = ["net-1 Expiration: 01 Oct 2026 00:00:00 -> none", "net-1 group: 100M -> garden"];
    const added = ["net-2 Expiration:  -> 01 Dec 2026 00:00:00", "net-2 group:  -> 100M"];
    expect(await reconcile(world)).toEqual({ compared: 2, differing: 2, told: [...fixed, ...added, ...hidden] });
    expect(await checks()).toEqual(["net-2 Expiration 01 Dec 2026 00:00:00"]);
    expect(await reconcile(world)).toEqual({ compared: 2, differing: 2, told: hidden });
  });

  const ENDS = { end: "2026-12-01 00:00:00" };

  test("connections of other services are neither compared nor written", async () => {
    const world = await openWorld();
    await world.importCustomers([customer("1", ENDS)]);
    config = { ...config, service: "iptv" };
    expect(await reconcile(world)).toEqual({ compared: 0, differing: 0, told: [] });
    config = { ...config, service: "internet" };
  });

  test("more users than a portion holds are all compared and written", async () => {
    const world = await openWorld();
    const cuids = Array.from({ length: 1_010 }, (_, index) => String(index));
    await world.importCustomers(cuids.map((cuid) => customer(cuid, ENDS)));
    expect(await reconcile(world)).toMatchObject({ compared: 1_010, differing: 1_010 });
    expect(await checks()).toHaveLength(1_010);
    expect(await reconcile(world)).toEqual({ compared: 1_010, differing: 0, told: [] });
  });
});
