import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { commandLine, type RunningTopupd } from "../support/command-line.ts";
import { CATALOGUE } from "../support/provider-files.ts";
import { rawConnection } from "../support/sqlite-database.ts";

const hasCurl = ["bash", "curl"].every((program) => spawnSync(program, ["--version"]).status === 0);
if (!hasCurl) process.stderr.write("SKIPPED: the demo's curl commands, since bash or curl is not here\n");

/** What is printed to be pasted: from the token to the last command. */
const printedCommands = ({ stdout }: RunningTopupd) =>
  /^TOKEN=[\s\S]*^curl [^\n]*txn-status[^\n]*$/m.exec(stdout())?.[0] ?? "";

const DAY_MS = 24 * 60 * 60 * 1000;

describe("topupd demo", () => {
  test("makes a provider with history in a database of its own, and walks through the four calls", async () => {
    const line = commandLine();
    const demo = await line.start("demo");
    const printed = demo.stdout();
    expect([...printed.matchAll(/^ {2}POST (\S+)$/gm)].map((match) => match[1])).toEqual([
      "get-customer-information",
      "get-subscription-package",
      "subscription-package-topup",
      "txn-status",
    ]);
    expect(printed.match(/^ {2}200 OK$/gm)).toHaveLength(4);
    expect([...printed.matchAll(/"code": "(400\w+)"/g)].map((match) => match[1])).toEqual([
      "400aa010",
      "400aa010",
      "400ab001",
      "400ab001",
    ]);
    expect(demo.stderr()).toBe("");
    if (hasCurl) await expectCommandsWork(demo);
    await expectLogIn(printed);

    expect(existsSync(join(line.folder, "topupd.db"))).toBe(false);
    const [, command = ""] = /Check the database: (node .+)$/m.exec(printed) ?? [];
    const { stdout: said } = await promisify(execFile)("sh", ["-c", command], { cwd: line.folder });
    expect(said).toMatch(/^ok /);
    expectHistory(join(line.folder, "topupd-data/demo.db"));
    demo.signal("SIGINT");
    expect(await demo.ended).toBe(0);
    expect(demo.stdout()).toMatch(/\nstopped\n$/);
  });

  test("does not touch a database from which others are served", async () => {
    const line = commandLine({ env: { TOPUPD_DATABASE: "sqlite:./mine.db" } });
    await line.mustRun("import", "catalogue", line.ndjson("catalogue.ndjson", ...CATALOGUE));
    const before = await line.mustRun("audit", "list", "--json");
    expect(await line.run("demo", "--port", "0")).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "topupd: this database has a catalogue for real customers: name another one for the demo with --database\n",
    });
    expect(await line.mustRun("audit", "list", "--json")).toBe(before);
  });
});

/** They work just as they are pasted. */
async function expectCommandsWork(demo: RunningTopupd): Promise<void> {
  const commands = printedCommands(demo);
  expect(commands.match(/^(PACKAGES=\$\()?curl /gm)).toHaveLength(4);
  const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-eu", "-c", commands], { timeout: 120_000 });
  expect(stderr).toBe("");
  const codes = [...stdout.matchAll(/\{"success":true,"code":"(\w+)"/g)].map((match) => match[1]);
  expect(codes).toEqual(["400aa010", "400aa010", "400ab001", "400ab001"]);
  const results = [...stdout.matchAll(/"txnId":"(\w+)"[^}]*"bouquetId":"TRIAL-NET-3M","amt":3220\b/g)];
  expect(results).toHaveLength(2);
  expect(results[0]?.[1]).toBe(results[1]?.[1]);
  expect(stdout).not.toContain('"success":false');
}

/** To the console, with the name and the password that are printed. */
async function expectLogIn(printed: string): Promise<void> {
  const [, url = "", name, password] = /^Console: (\S+) {2}log in as (\S+), password (\S+)$/m.exec(printed) ?? [];
  const answer = await fetch(`${url}/api/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ name, password }),
  });
  expect({ status: answer.status, body: await answer.json() }).toMatchObject({
    status: 201,
    body: { role: "admin", mustSetUp: null },
  });
}

/** What each page of the console has something to show of. */
function expectHistory(path: string): void {
  const database = rawConnection(path);
  const row = (query: string) => ({ ...(database.prepare(query).get() as Record<string, number | string>) });
  expect(row("SELECT count(*) AS customers FROM customer").customers).toBe(506);
  const { topUps, first, last, reversed, partners } = row(
    "SELECT count(*) AS topUps, min(at) AS first, max(at) AS last, sum(status = 'reversed') AS reversed, count(DISTINCT partner_id) AS partners FROM top_up",
  );
  expect(topUps).toBeGreaterThan(5_000);
  expect(reversed).toBeGreaterThan(20);
  expect(partners).toBe(4);
  expect(Number(last) - Number(first)).toBeGreaterThan(90 * DAY_MS);
  expect(last).toBeLessThanOrEqual(Date.now());
  expect(row("SELECT count(DISTINCT partner_id) AS earning FROM top_up WHERE commission > 0").earning).toBe(2);
  expect(row("SELECT count(*) AS guarded FROM account WHERE balance IS NOT NULL").guarded).toBe(2);
  expect(row("SELECT count(*) AS deposits FROM account_entry").deposits).toBeGreaterThan(10);
  expect(row("SELECT count(*) AS runs FROM import_run").runs).toBe(5);
  expect(row("SELECT count(*) AS held FROM held_back").held).toBe(2);
  expect(row("SELECT count(DISTINCT reason) AS reasons FROM refused_call").reasons).toBeGreaterThan(3);
  const [token] = database
    .prepare(
      "SELECT environment, created_at, expires_at FROM access_token WHERE partner_id = 1 AND expires_at IS NOT NULL",
    )
    .all() as { environment: string; created_at: number; expires_at: number }[];
  expect(token).toMatchObject({ environment: "trial" });
  expect(Number(token?.expires_at) - Number(token?.created_at)).toBe(7 * DAY_MS);
}
