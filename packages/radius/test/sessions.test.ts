import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readRadiusAddress } from "../../server/src/domain/radius.ts";
import { isInstalled } from "../../server/test/support/installed.ts";
import {
  emptyTables,
  mariaDbForRadius,
  postgresForRadius,
  type RadiusServer,
} from "../../server/test/support/radius-databases.ts";
import { RadiusSessions } from "../src/index.ts";

const SERVERS = [
  { name: "PostgreSQL", start: postgresForRadius },
  ...(isInstalled("MariaDB") ? [{ name: "MariaDB", start: mariaDbForRadius }] : []),
];

describe.each(SERVERS)("sessions in radacct on $name", ({ start }) => {
  let server: RadiusServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  afterEach(() => emptyTables(server));

  function open(): RadiusSessions {
    const address = readRadiusAddress(server.url);
    if (typeof address === "string") throw new Error(address);
    const sessions = new RadiusSessions(address, { application: "test" });
    onTestFinished(() => sessions.close());
    return sessions;
  }

  /** The session A1 of sita at 10.0.0.1, from the caller AA. */
  const insert = (values: Readonly<Record<string, string>> = {}) => {
    const row = { username: "sita", acctsessionid: "A1", nasipaddress: "10.0.0.1", callingstationid: "AA", ...values };
    const all = { acctuniqueid: `${row.acctsessionid}${row.nasipaddress}`, ...row };
    const list = (of: readonly string[]) => of.join(", ");
    return server.query(
      `INSERT INTO radacct (${list(Object.keys(all))}) VALUES (${list(Object.values(all).map((each) => `'${each}'`))})`,
    );
  };

  test("are open without a stop, with what names them", async () => {
    await insert({ framedipaddress: "10.1.0.7" });
    await insert({ acctsessionid: "A0", acctstoptime: "2026-11-26 09:00:00" });
    await insert({ acctsessionid: "B1", username: "ram", nasipaddress: "10.0.0.2", callingstationid: "" });
    const found = await open().open(["sita", "ram", "gita"]);
    expect(found).toEqual([
      {
        id: expect.any(Number),
        username: "sita",
        sessionId: "A1",
        device: "10.0.0.1",
        framedAddress: "10.1.0.7",
        caller: "AA",
      },
      {
        id: expect.any(Number),
        username: "ram",
        sessionId: "B1",
        device: "10.0.0.2",
        framedAddress: undefined,
        caller: undefined,
      },
    ]);
    expect(await open().open([])).toEqual([]);
  });

  test("have ended with a stop, with a newer one of their device and caller, or without a row", async () => {
    await insert();
    await insert({ acctsessionid: "B1", nasipaddress: "10.0.0.2", callingstationid: "" });
    const sessions = open();
    const ids = (await sessions.open(["sita"])).map(({ id }) => id);
    const ended = async () => (await sessions.states([...ids, 999])).map((each) => each.ended);
    expect(await ended()).toEqual([false, false, true]);
    // Two sessions without a caller may be of different customers.
    await insert({ acctsessionid: "B2", nasipaddress: "10.0.0.2", callingstationid: "" });
    await insert({ acctsessionid: "A2", nasipaddress: "10.0.0.3" });
    expect(await ended()).toEqual([false, false, true]);
    await insert({ acctsessionid: "A9", username: "ram" });
    expect(await ended()).toEqual([false, false, true]);
    await insert({ acctsessionid: "A3" });
    expect(await ended()).toEqual([true, false, true]);
    await server.query("UPDATE radacct SET acctstoptime = acctstarttime, acctupdatetime = '2026-11-26 09:00:00'");
    expect(await ended()).toEqual([true, false, true]);
    await server.query("UPDATE radacct SET acctstoptime = '2026-11-26 09:00:00'");
    expect(await ended()).toEqual([true, true, true]);
    const [, reported] = await sessions.states(ids);
    expect(reported?.reportedAt).toMatch(/^2026-11-26 09:00:00/);
  });

  test("are found in other case, with the name that their device reported", async () => {
    await insert({ username: "Maya.Rai9", acctsessionid: "81a00009" });
    await insert({ username: "maya.rai90", acctsessionid: "81a00090" });
    await insert({ username: "gita@BLUE.example", acctsessionid: "81a00010" });
    const found = await open().open(["maya.rai9", "gita@blue.example"]);
    expect(found.map(({ username, sessionId }) => [username, sessionId])).toEqual([
      ["Maya.Rai9", "81a00009"],
      ["gita@BLUE.example", "81a00010"],
    ]);
  });

  // PostgreSQL has no zero date.
  if (start !== mariaDbForRadius) return;
  test("are open with the zero date as a stop", async () => {
    // Older installations of FreeRADIUS have no other default.
    const zero = "0000-00-00 00:00:00";
    await server.query("SET sql_mode = ''");
    await insert({ username: "maya.rai4", acctsessionid: "81a00004", acctstoptime: zero });
    await insert({ username: "ram", acctsessionid: "81a00005", acctstoptime: zero, nasipaddress: "10.0.0.2" });
    const sessions = open();
    const found = await sessions.open(["maya.rai4", "ram"]);
    expect(found.map(({ sessionId }) => sessionId)).toEqual(["81a00004", "81a00005"]);
    const ids = found.map(({ id }) => id);
    const ended = async () => (await sessions.states(ids)).map((each) => each.ended);
    expect(await ended()).toEqual([false, false]);
    await server.query("UPDATE radacct SET acctstoptime = now() WHERE username = 'ram'");
    expect(await ended()).toEqual([false, true]);
  });
});
