import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { rawConnection, tamper } from "../support/sqlite-database.ts";

describe("topupd migrate", () => {
  test("--status of a database that is not there says what is lacking, and makes nothing", async () => {
    const line = commandLine();
    const { code, stdout, stderr } = await line.run("migrate", "--status");
    expect(stdout).toBe("MIGRATION         STATE    APPLIED\n0001_initial.sql  pending  -\n");
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: "topupd: the database is not up to date: topupd migrate brings it there\n",
    });
    expect(existsSync(join(line.folder, "topupd.db"))).toBe(false);
  });

  test("makes the tables, once", async () => {
    const line = commandLine();
    const first = await line.mustRun("migrate");
    expect(first).toMatch(/^MIGRATION +STATE +APPLIED\n0001_initial\.sql +applied +\d{4}-\d\d-\d\dT[\d:.]+Z\n$/);
    expect(await line.mustRun("migrate")).toBe(first);
    expect(await line.mustRun("migrate", "--status")).toBe(first);
    expect((await line.run("check")).code).toBe(0);
  });

  test("--status tells of a migration that is another one than this topupd's, and of one it does not know", async () => {
    const line = commandLine();
    await line.mustRun("migrate");
    const path = join(line.folder, "topupd.db");
    tamper(path, "INSERT INTO schema_migration VALUES (2, '0002_later.sql', 'x', 5)");
    const newer = await line.run("migrate", "--status", "--json");
    expect(JSON.parse(newer.stdout)).toMatchObject([
      { name: "0001_initial.sql", state: "applied" },
      { name: "0002_later.sql", state: "unknown", appliedAt: "1970-01-01T00:00:00.005Z" },
    ]);
    expect(newer).toMatchObject({
      code: 3,
      stderr: "topupd: the database was made by a newer topupd: use that\n",
    });
    tamper(path, "UPDATE schema_migration SET checksum = 'y' WHERE number = 1");
    const altered = await line.run("migrate", "--status");
    expect(altered.stdout).toMatch(/0001_initial\.sql +altered/);
    expect(altered.code).toBe(3);
    expect(rawConnection(path).prepare("SELECT count(*) AS count FROM schema_migration").get()).toEqual({ count: 2 });
  });

  test("refuses a file that is not topupd's", async () => {
    const line = commandLine();
    rawConnection(join(line.folder, "topupd.db")).exec("CREATE TABLE theirs (x)");
    for (const words of [["migrate"], ["migrate", "--status"]]) {
      expect(await line.run(...words)).toEqual({
        code: 1,
        stdout: "",
        stderr: "topupd: the file is a database, but not one of topupd\n",
      });
    }
  });
});
