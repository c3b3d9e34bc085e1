import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callOperation, commandLine } from "../support/command-line.ts";
import { type HistoryLine, historyLine } from "../support/history-line.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { addWallet, fillDatabase, SITA_NET } from "../support/provider-files.ts";
import { makeSqliteDatabase, tamper } from "../support/sqlite-database.ts";

describe("topupd secret", () => {
  test("list shows which one seals, and none of them", async () => {
    const line = commandLine();
    await addWallet(line);
    expect(await line.mustRun("secret", "list")).toMatch(
      /^ID +STATE +CREATED\n0 +sealing +\d{4}-\d\d-\d\dT[\d:.]+Z\n$/,
    );
    expect(JSON.parse(await line.mustRun("secret", "list", "--json"))).toEqual([
      { id: 0, state: "sealing", createdAt: expect.any(String) },
    ]);
  });

  test("rotate adds one that seals ten seconds later, and says from when on", async () => {
    const line = commandLine();
    await addWallet(line);
    const { code, stdout, stderr } = await line.run("secret", "rotate", "--json");
    const [added, former] = JSON.parse(stdout);
    expect([code, added.id, added.state, former.id, former.state]).toEqual([0, 1, "new", 0, "sealing"]);
    const sealsFrom = new Date(Date.parse(added.createdAt) + 10_000).toISOString();
    expect(stderr).toBe(`The new secret seals from ${sealsFrom} on.\n`);
    tamper(join(line.folder, "topupd.db"), "UPDATE checkout_secret SET created_at = created_at - 10000");
    expect(await line.mustRun("secret", "list")).toMatch(/\n1 +sealing .*\n0 +former /);
  });

  test("rotate while serving leaves checkoutIds as good as they were, without a restart", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const { url } = await line.start("serve");
    const call = (operation: string, body: object) => callOperation(url, operation, token, body);
    const list = async () => (await call("get-subscription-package", SITA_NET)).json.body.checkoutId as string;
    const buy = (checkoutId: string) =>
      call("subscription-package-topup", { ...SITA_NET, checkoutId, bouquetId: "NET-1M", amt: "1130" });
    const before = await list();
    await line.mustRun("secret", "rotate");
    const between = await list();
    tamper(join(line.folder, "topupd.db"), "UPDATE checkout_secret SET created_at = created_at - 10000 WHERE id = 1");
    const after = await list();
    expect([before, between, after].map((checkoutId) => Buffer.from(checkoutId, "base64url")[0])).toEqual([
      0x10, 0x10, 0x11,
    ]);
    for (const checkoutId of [before, between, after]) expect((await buy(checkoutId)).status).toBe(200);
    const replay = await buy(before);
    expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  });

  test("rotate is refused where the oldest of sixteen may still be in use", async () => {
    const line = commandLine();
    await addWallet(line);
    const rows = Array.from({ length: 15 }, (_, id) => `(${id + 1}, randomblob(32), ${Date.now() + id})`);
    tamper(
      join(line.folder, "topupd.db"),
      `INSERT INTO checkout_secret (id, key, created_at) VALUES ${rows.join(", ")}`,
    );
    const { code, stdout, stderr } = await line.run("secret", "rotate");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("rotate again in a quarter of an hour");
  });
});

describe("topupd secret rotate, and a clock that is wrong", () => {
  const rotate = (line: HistoryLine, ...more: string[]) => line.run("secret", "rotate", "--json", ...more);

  test.each([
    ["SQLite", makeSqliteDatabase],
    ["PostgreSQL", makePostgresDatabase],
  ])("on %s, it warns of one that is ahead, and replaces at once what was made by it", async (_, makeDatabase) => {
    const line = await historyLine(() => makeDatabase());
    await line.setTime("2028-01-10 12:00:00");
    expect(await rotate(line)).toMatchObject({
      code: 0,
      stderr:
        "The new secret seals from 2028-01-10T06:15:10.000Z on.\nThe clock of this machine may be ahead: it says 2028-01-10T06:15:00.000Z, and the newest record is of 2027-01-10T06:15:00.000Z. If it is, the former secret seals until that time: set the clock right, and rotate again at once with --clock-is-right.\n",
    });
    await line.setTime("2027-01-10 13:00:00");
    const refused = await rotate(line);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(
      "topupd: the clock of this machine says 2027-01-10T07:15:00.000Z, and the newest secret is of 2028-01-10T06:15:00.000Z",
    );
    const { code, stdout, stderr } = await rotate(line, "--clock-is-right");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "The new secret seals from 2027-01-10T07:15:10.002Z on.\n" });
    const secrets = JSON.parse(stdout) as { id: number; createdAt: string }[];
    expect(secrets.map(({ id, createdAt }) => [id, createdAt])).toEqual([
      [2, "2027-01-10T07:15:00.002Z"],
      [1, "2027-01-10T07:15:00.001Z"],
      [0, "1970-01-01T00:00:00.000Z"],
    ]);
    await line.setTime("2027-01-10 13:01:00");
    const listed = JSON.parse((await line.run("secret", "list", "--json")).stdout) as { state: string }[];
    expect(listed.map(({ state }) => state)).toEqual(["sealing", "former", "former"]);
    expect((await line.run("check")).code).toBe(0);
  });
});
