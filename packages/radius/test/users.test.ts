import { createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { foldName } from "../../server/src/domain/names.ts";
import { readRadiusAddress } from "../../server/src/domain/radius.ts";
import { isInstalled } from "../../server/test/support/installed.ts";
import {
  emptyTables,
  mariaDbForRadius,
  postgresForRadius,
  type RadiusServer,
  type Row,
} from "../../server/test/support/radius-databases.ts";
import { RadiusFailed, type RadiusUser, RadiusUsers } from "../src/index.ts";

const NOON = Date.parse("2026-12-01T12:00:00Z");

const CHECKS = "SELECT username, attribute, op, value FROM radcheck ORDER BY id";
const INSERT_CHECKS = "INSERT INTO radcheck (username, attribute, op, value) VALUES";
const GROUPS = "SELECT username, groupname, priority FROM radusergroup";

function open(url: string): RadiusUsers {
  const address = readRadiusAddress(url);
  if (typeof address === "string") throw new Error(address);
  const users = new RadiusUsers(address, {
    ...{ application: "test", timeZone: "UTC", groups: ["60M", "100M", "slow"], fold: foldName },
  });
  onTestFinished(() => users.close());
  return users;
}

function userWith(changes: Partial<RadiusUser> & { readonly end?: number } = {}): RadiusUser {
  const { end = NOON, ...others } = changes;
  const expiration = { end, mayBeEarlier: false };
  return { username: "fiber1", rejected: false, group: "60M", expiration, ...others };
}

const SERVERS = [
  { name: "PostgreSQL", start: postgresForRadius },
  ...(isInstalled("MariaDB") ? [{ name: "MariaDB", start: mariaDbForRadius }] : []),
];

describe.each(SERVERS)("users of FreeRADIUS on $name", ({ name, start }) => {
  let server: RadiusServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  afterEach(() => emptyTables(server));

  async function rows(): Promise<{ checks: string[]; groups: string[] }> {
    const words = (found: Row[]) => found.map((row) => Object.values(row).join(" "));
    return { checks: words(await server.query(CHECKS)), groups: words(await server.query(GROUPS)).toSorted() };
  }

  test("a rejected user is let in again, and keeps an end and group that are not given", async () => {
    const users = open(server.url);
    await users.settle(userWith());
    const before = await rows();
    const unchanged = { expiration: undefined, group: undefined };
    await users.settle(userWith({ ...unchanged, rejected: true }));
    expect(await rows()).toEqual({ ...before, checks: [...before.checks, "fiber1 Auth-Type := Reject"] });
    await users.settle(userWith(unchanged));
    expect(await rows()).toEqual(before);
  });

  test("other attributes, groups and users are left alone", async () => {
    await server.query(`${INSERT_CHECKS} ('fiber1', 'Cleartext-Password', ':=', 'pw'),
      ('fiber1', 'Auth-Type', ':=', 'PAP'), ('fiber1', 'Expiration', '==', '1 Jan 2020'),
      ('fiber1', 'Expiration', ':=', '2 Jan 2020'), ('fiber2', 'Expiration', ':=', '1 Jan 2020'),
      ('fiber2', 'Auth-Type', ':=', 'Reject')`);
    await server.query(
      `INSERT INTO radusergroup VALUES ('fiber1', 'staff', 3), ('fiber1', '100M', 5), ('fiber2', '60M', 7)`,
    );
    await open(server.url).settle(userWith());
    expect(await rows()).toEqual({
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

  test("rows whose attribute differs in case alone are replaced, not doubled", async () => {
    await server.query(`${INSERT_CHECKS} ('fiber1', 'expiration', ':=', '2026-12-10 10:00:00'),
      ('fiber1', 'AUTH-TYPE', ':=', 'reject'), ('fiber1', 'Expiration', ':=', '1 Jan 2020'),
      ('fiber2', 'EXPIRATION', ':=', '01 Dec 2026 12:00:00'), ('fiber2', 'auth-type', ':=', 'PAP')`);
    const users = open(server.url);
    await users.settle(userWith({ rejected: true }));
    await users.settle(userWith({ username: "fiber2", rejected: true }));
    expect((await rows()).checks).toEqual([
      "fiber1 Expiration := 01 Dec 2026 12:00:00",
      "fiber1 Auth-Type := Reject",
      "fiber2 EXPIRATION := 01 Dec 2026 12:00:00",
      "fiber2 auth-type := PAP",
      "fiber2 Auth-Type := Reject",
    ]);
    await users.settle(userWith());
    expect((await rows()).checks).not.toContain("fiber1 Auth-Type := Reject");
  });

  // MariaDB takes names in other case for the same user, as FreeRADIUS does on it.
  test.skipIf(name !== "PostgreSQL")(
    "a user whose name exists in other case alone is found, and not added",
    async () => {
      await server.query(`${INSERT_CHECKS} ('Fiber1', 'Cleartext-Password', ':=', 'pw'),
      ('FIBER3', 'Cleartext-Password', ':=', 'pw'), ('fiber3', 'Cleartext-Password', ':=', 'pw')`);
      await server.query("INSERT INTO radusergroup VALUES ('FIBER2', '60M', 1)");
      const before = await rows();
      const users = open(server.url);
      const named = ["fiber1", "fiber2"].map((username) => userWith({ username }));
      const differences = await users.compare(named);
      expect(differences.map(({ kind, found, wanted }) => [kind, found.map(({ value }) => value), wanted])).toEqual([
        ["username", ["Fiber1"], "fiber1"],
        ["username", ["FIBER2"], "fiber2"],
      ]);
      await users.write(differences);
      const failure = new RadiusFailed("the RADIUS database has this username in other case only", true);
      for (const user of named) await expect(users.settle(user)).rejects.toThrow(failure);
      expect(await rows()).toEqual(before);
      // A name that exists exactly is a user.
      await users.settle(userWith({ username: "fiber3" }));
      await users.settle(userWith({ username: "Fiber1" }));
      expect((await rows()).checks).toHaveLength(before.checks.length + 2);
      // A user without rows is not searched.
      expect(await users.compare([userWith({ username: "fiber1", group: undefined, expiration: undefined })])).toEqual(
        [],
      );
    },
  );

  test("a user is in one of the groups alone", async () => {
    const users = open(server.url);
    await server.query(
      "INSERT INTO radusergroup VALUES ('fiber1', '60M', 5), ('fiber1', '60M', 5), ('fiber1', 'slow', 5)",
    );
    await users.settle(userWith({ group: "100M" }));
    expect((await rows()).groups).toEqual(["fiber1 100M 1"]);
    await users.settle(userWith({ group: "slow" }));
    expect((await rows()).groups).toEqual(["fiber1 slow 1"]);
  });

  test("many users are written in one transaction", async () => {
    const users = open(server.url);
    const many = Array.from({ length: 1_000 }, (_, index) => userWith({ username: `fiber${index}` }));
    const correct = async () => {
      const differences = await users.compare(many);
      await users.write(differences);
      expect(await users.compare(many)).toEqual([]);
      return differences.length;
    };
    expect(await correct()).toBe(2_000);
    await server.query("UPDATE radcheck SET value = '01 Dec 2027 00:00:00', op = '=='");
    await server.query("UPDATE radusergroup SET groupname = '100M'");
    expect(await correct()).toBe(2_000);
    if (name !== "PostgreSQL") return;
    // xmin is the number of the transaction that wrote the row.
    for (const table of ["radcheck", "radusergroup"])
      expect(await server.query(`SELECT DISTINCT xmin::text FROM ${table}`)).toHaveLength(1);
  });

  test("two processes that write the same users at once leave one row of each kind", async () => {
    const [one, another] = [open(server.url), open(server.url)];
    const settled = Array.from({ length: 32 }, (_, index) => `fiber${index}`).flatMap((username) => [
      one.settle(userWith({ username })),
      another.settle(userWith({ username, group: "100M", rejected: true })),
    ]);
    expect(await Promise.allSettled(settled)).not.toContainEqual(expect.objectContaining({ status: "rejected" }));
    const ends = await server.query("SELECT username FROM radcheck WHERE attribute = 'Expiration'");
    const groups = await server.query("SELECT username FROM radusergroup");
    for (const found of [ends, groups])
      expect([found.length, new Set(found.map((row) => row["username"])).size]).toEqual([32, 32]);
  });

  test("a statement that is held up is given up in time, and is never made up for", async () => {
    const users = open(server.url);
    await users.settle(userWith());
    const held = await holdRows(server);
    const settling = users.settle(userWith({ end: NOON + 60_000 }), AbortSignal.timeout(300));
    await expect(settling).rejects.toThrow(new RadiusFailed("the RADIUS database did not answer in time"));
    await held.over;
    expect((await server.query(CHECKS))[0]).toMatchObject({ value: "01 Dec 2026 12:00:00" });
    await users.settle(userWith({ end: NOON + 60_000 }));
    expect((await server.query(CHECKS))[0]).toMatchObject({ value: "01 Dec 2026 12:01:00" });
  });

  test("why it fails is said without a name or password", async () => {
    const lacking = open(server.otherUrl).settle(userWith());
    await expect(lacking).rejects.toThrow(
      new RadiusFailed("the RADIUS database lacks radcheck, radusergroup or radacct"),
    );
    const nowhere = open(onPort(1)).settle(userWith());
    await expect(nowhere).rejects.toThrow(new RadiusFailed("the RADIUS database refuses connections"));
    const refused = open(server.url).settle(userWith({ username: "x".repeat(65) }));
    await expect(refused).rejects.toMatchObject({ isAnswer: true });
  });

  test("a server that says nothing is given up in time, and holds up no closing", async () => {
    const users = open(onPort(await silentPort()));
    const settling = users.settle(userWith(), AbortSignal.timeout(200));
    await expect(settling).rejects.toThrow("the RADIUS database did not answer in time");
  });

  test.runIf(name === "MariaDB")("rows under another spelling of a name are the user's", async () => {
    const users = open(server.url);
    await server.query(`${INSERT_CHECKS} ('NET-1', 'Expiration', ':=', '01 Dec 2026 12:00:00'),
      ('nét-2', 'Expiration', ':=', '01 Dec 2027 00:00:00')`);
    await server.query("INSERT INTO radusergroup VALUES ('NET-1', '60M', 1), ('net-2', '60M', 1)");
    const differences = await users.compare(["net-1", "net-2"].map((username) => userWith({ username })));
    expect(differences.map(({ username }) => username)).toEqual(["net-2"]);
    await users.write(differences);
    expect((await rows()).checks).toEqual(
      ["NET-1", "nét-2"].map((username) => `${username} Expiration := 01 Dec 2026 12:00:00`),
    );
  });

  function onPort(port: number): string {
    const url = new URL(server.url);
    url.port = String(port);
    return url.href;
  }
});

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
