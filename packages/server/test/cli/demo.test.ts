import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { callOperation, commandLine, type RunningTopupd } from "../support/command-line.ts";
import { CATALOGUE } from "../support/provider-files.ts";

const CUSTOMER = { cuid: "1000001", service: "internet", reqId: "trial1" };

const hasCurl = ["bash", "curl"].every((program) => spawnSync(program, ["--version"]).status === 0);
if (!hasCurl) process.stderr.write("SKIPPED: the demo's curl commands, since bash or curl is not here\n");

/** What is printed to be pasted: from the token to the last command. */
const printedCommands = ({ stdout }: RunningTopupd) =>
  /^TOKEN=[\s\S]*^curl [^\n]*txn-status[^\n]*$/m.exec(stdout())?.[0] ?? "";
const printedToken = ({ stdout }: RunningTopupd) => /^TOKEN=(\S+)$/m.exec(stdout())?.[1] ?? "";

describe("topupd demo", () => {
  test("walks through the four calls, and prints what is asked and answered", async () => {
    const { stdout, stderr } = await commandLine().start("demo");
    const printed = stdout();
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
    expect(printedCommands({ stdout } as RunningTopupd).match(/^(PACKAGES=\$\()?curl /gm)).toHaveLength(4);
    expect(stderr()).toBe("");
  });

  test.skipIf(!hasCurl)("prints four curl commands that work just as they are pasted", async () => {
    const demo = await commandLine().start("demo");
    const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-eu", "-c", printedCommands(demo)], {
      timeout: 20_000,
    });
    expect(stderr).toBe("");
    const codes = [...stdout.matchAll(/\{"success":true,"code":"(\w+)"/g)].map((match) => match[1]);
    expect(codes).toEqual(["400aa010", "400aa010", "400ab001", "400ab001"]);
    const results = [...stdout.matchAll(/"txnId":"(\w+)"[^}]*"bouquetId":"TRIAL-NET-3M","amt":3220\b/g)];
    expect(results).toHaveLength(2);
    expect(results[0]?.[1]).toBe(results[1]?.[1]);
    expect(stdout).not.toContain('"success":false');
  });

  test("keeps its database in a folder of its own, tells how to look inside, and issues a trial token", async () => {
    const line = commandLine();
    const demo = await line.start("demo");
    expect(existsSync(join(line.folder, "topupd.db"))).toBe(false);
    const [, command = ""] = /To look inside: (node .+)$/m.exec(demo.stdout()) ?? [];
    const { stdout: said } = await promisify(execFile)("sh", ["-c", command], { cwd: line.folder });
    expect(said).toMatch(/^ok /);
    expect(printedToken(demo)).toMatch(/^topup_trial_[0-9A-Za-z]{49}$/);
    const tokens = await line.mustRun("token", "list", "--json", "--database", "sqlite:./topupd-data/demo.db");
    const [token] = JSON.parse(tokens);
    expect(token).toMatchObject({ partner: "demo", environment: "trial", state: "valid" });
    expect(Date.parse(token.expiresAt) - Date.parse(token.createdAt)).toBe(7 * 24 * 60 * 60 * 1000);
  });

  test("does not touch a database from which others are served", async () => {
    const line = commandLine({ env: { TOPUPD_DATABASE: "sqlite:./mine.db" } });
    await line.mustRun("import", "catalogue", line.ndjson("catalogue.ndjson", ...CATALOGUE));
    const before = await line.mustRun("audit", "list", "--json");
    expect(await line.run("demo", "--port", "0")).toEqual({
      code: 2,
      stdout: "",
      stderr: "topupd: this database has a catalogue for real customers: name another for the demo, by --database\n",
    });
    expect(await line.mustRun("audit", "list", "--json")).toBe(before);
  });

  test("is back in its first state when it is started again, and earlier top-ups are still known", async () => {
    const line = commandLine({ env: { TOPUPD_DATABASE: "sqlite:./mine.db" } });
    const first = await line.start("demo");
    const token = printedToken(first);
    const call = (demo: RunningTopupd, operation: string, body: object) =>
      callOperation(demo.url, operation, token, body);
    const listed = await call(first, "get-subscription-package", CUSTOMER);
    const { checkoutId } = listed.json.body;
    const purchase = { ...CUSTOMER, checkoutId, bouquetId: "TRIAL-NET-12M", amt: "11520" };
    const bought = await call(first, "subscription-package-topup", purchase);
    expect(bought.status).toBe(200);
    first.signal("SIGINT");
    expect(await first.ended).toBe(0);
    expect(first.stdout()).toMatch(/\nstopped\n$/);

    const second = await line.start("demo");
    const [subscription] = (await call(second, "get-subscription-package", CUSTOMER)).json.body.internet.subscriptions;
    // One month was imported, and the demo's own walk buys one more.
    expect(subscription.code).toBe("TRIAL-NET-1M");
    expect(subscription.name).toBe("Trial Fiber 100 Mbps (MONTHLY)");
    const again = await call(second, "subscription-package-topup", purchase);
    expect(again.status).toBe(200);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.json).toEqual(bought.json);
    expect((await call(second, "txn-status", { checkoutId })).json).toEqual(bought.json);
    expect(second.stdout()).toContain("check --database sqlite:./mine.db");
    expect((await line.run("check")).code).toBe(0);
  });
});
