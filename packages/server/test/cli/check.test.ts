import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { reportCheck } from "../../src/cli/commands/check.ts";
import type { CheckEvent } from "../../src/store/store.ts";
import { commandLine } from "../support/command-line.ts";
import { fillDatabase } from "../support/provider-files.ts";
import { tamper } from "../support/sqlite-database.ts";

describe("topupd check", () => {
  test("of a database in order is a success, in one line", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const stdout = "ok     nothing is wrong (--verbose names what was checked)\n";
    expect(await line.run("check")).toEqual({ code: 0, stdout, stderr: "" });
  });

  test("--verbose says what was looked at", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const { code, stdout, stderr } = await line.run("check", "--verbose");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const rows = stdout.trimEnd().split("\n");
    expect(rows.filter((row) => !row.startsWith("ok     "))).toEqual([]);
    for (const said of [
      "integrity of the file",
      "durability: write-ahead log, synchronous=FULL",
      "subscriptions equal the fold of their grants",
      "no grants of a top-up that is not on record",
      "no top-ups without a grant",
      "tables and triggers are those of this topupd",
      "no customers that cannot be looked up",
    ])
      expect(rows).toContain(`ok     ${said}`);
  });

  test("--json of a database in order says so", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const report = JSON.parse(await line.mustRun("check", "--json"));
    expect(report).toEqual({ ok: true, finished: true, checked: expect.any(Array), wrong: [] });
    expect(report.checked).toContainEqual({ what: "subscriptions equal the fold of their grants", count: 1 });
  });

  test("of a damaged database fails, and names what is wrong", async () => {
    const line = commandLine();
    await fillDatabase(line);
    tamper(join(line.folder, "topupd.db"), "UPDATE subscription SET end_at = end_at + 86400000");
    const wrong = "customer 2000001 (production), internet: Fiber 100 Mbps is not the fold of its grants";
    const text = await line.run("check");
    expect(text).toMatchObject({ code: 3, stderr: "topupd: the database is not in order: 1 finding\n" });
    expect(text.stdout).toBe(`WRONG  ${wrong}\n`);
    const verbose = (await line.run("check", "--verbose")).stdout.split("\n");
    expect(verbose.filter((row) => row.startsWith("WRONG"))).toEqual([`WRONG  ${wrong}`]);
    expect(verbose).toContain("ok     integrity of the file");
    const json = await line.run("check", "--json");
    expect(json.code).toBe(3);
    expect(JSON.parse(json.stdout)).toEqual({ ok: false, finished: true, checked: expect.any(Array), wrong: [wrong] });
  });

  test("tells what could not be checked also where nothing is wrong", async () => {
    async function* events(): AsyncGenerator<CheckEvent> {
      yield { kind: "checked", what: "integrity of the file", count: 1 };
      yield { kind: "unchecked", what: "tables and triggers were NOT compared: no CREATE", count: 1 };
    }
    const printed: string[] = [];
    expect(await reportCheck(events(), {}, { stdout: (text) => printed.push(text) })).toBe(0);
    expect(printed).toEqual([
      "ok     tables and triggers were NOT compared: no CREATE\n",
      "ok     nothing is wrong (--verbose names what was checked)\n",
    ]);
  });

  test("--json of one that could not go on says what it had found until then", async () => {
    async function* events(): AsyncGenerator<CheckEvent> {
      yield { kind: "checked", what: "integrity of the file", count: 1 };
      yield { kind: "wrong", what: "a row" };
      throw new Error("the disk is gone");
    }
    const printed: string[] = [];
    const report = reportCheck(events(), { json: true }, { stdout: (text) => printed.push(text) });
    await expect(report).rejects.toThrow("the disk is gone");
    const checked = [{ what: "integrity of the file", count: 1 }];
    expect(JSON.parse(printed.join(""))).toEqual({ ok: false, finished: false, checked, wrong: ["a row"] });
  });

  test("beside a service that is running finds the database in order", async () => {
    const line = commandLine();
    await fillDatabase(line);
    await line.start("serve");
    expect((await line.run("check")).code).toBe(0);
  });
});

const NEEDING_A_DATABASE = [
  "check",
  "partner list",
  "partner suspend wallet",
  "partner resume wallet",
  "token issue --partner wallet --environment trial",
  "token list",
  "token revoke tok_1",
];

describe("a database that is not there", () => {
  test("is missed by the commands that need one, which make none", async () => {
    const line = commandLine();
    const runs = await Promise.all(NEEDING_A_DATABASE.map((command) => line.run(...command.split(" "))));
    const stderr = "topupd: there is no database at ./topupd.db\n";
    expect(runs).toEqual(NEEDING_A_DATABASE.map(() => ({ code: 1, stdout: "", stderr })));
    expect(readdirSync(line.folder)).toEqual([]);
  });

  test.each(["partner add wallet", "import catalogue catalogue.ndjson"])("is made by `topupd %s`", async (command) => {
    const line = commandLine();
    line.ndjson("catalogue.ndjson", { service: "tv", code: "TV-1M", name: "TV (MONTHLY)", price: 450 });
    await line.mustRun(...command.split(" "));
    expect(existsSync(join(line.folder, "topupd.db"))).toBe(true);
  });
});

describe("a file that is no database of topupd's", () => {
  test("is refused by every command in one sentence", async () => {
    const line = commandLine();
    line.ndjson("topupd.db", "this is no database, and long enough to be taken for a page of one".repeat(100));
    const commands = ["check", "serve", "partner add wallet"];
    for (const { code, stdout, stderr } of await Promise.all(commands.map((each) => line.run(...each.split(" "))))) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^topupd: \.\/topupd\.db cannot be opened as a database: .*\n$/);
    }
  });
});
