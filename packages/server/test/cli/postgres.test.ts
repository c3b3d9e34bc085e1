import { describe, expect, test } from "vitest";
import { callOperation, commandLine, logLines } from "../support/command-line.ts";
import { type OfficeLine, officeLine } from "../support/office-line.ts";
import { makeEmptyDatabase } from "../support/postgres-database.ts";
import { CATALOGUE, SITA, SITA_NET } from "../support/provider-files.ts";

/** Where commands find an empty database of PostgreSQL in their environment. */
async function onPostgres() {
  const { url, made } = makeEmptyDatabase();
  await made;
  return officeLine({ now: Date.now(), env: { TOPUPD_DATABASE: url } });
}

/** By commands alone. @returns a production token. */
async function fill(line: OfficeLine): Promise<string> {
  await line.mustRun("partner", "add", "wallet");
  await line.mustRun("import", "catalogue", line.ndjson("catalogue.ndjson", ...CATALOGUE));
  await line.mustRun("import", "customers", line.ndjson("customers.ndjson", SITA));
  return (await line.mustRun("token", "issue", "--partner", "wallet", "--environment", "production")).trim();
}

const TOP_UP = "subscription-package-topup";

async function prepare(url: string, token: string) {
  const { status, json } = await callOperation(url, "get-subscription-package", token, SITA_NET);
  expect(status).toBe(200);
  return { ...SITA_NET, checkoutId: json.body.checkoutId as string, bouquetId: "NET-1M", amt: "1130" };
}

describe("every command works on PostgreSQL", () => {
  test("migrate, partner, token, import, trial and check", async () => {
    const line = await onPostgres();
    const pending = await line.run("migrate", "--status");
    expect(pending.code).toBe(3);
    expect(pending.stdout).toMatch(/0001_initial\.sql +pending +-/);
    const tooEarly = await line.run("partner", "list");
    expect(tooEarly).toEqual({
      code: 1,
      stdout: "",
      stderr: "topupd: the database is empty: topupd migrate, or topupd serve, makes its tables\n",
    });
    expect(await line.mustRun("migrate")).toMatch(/0001_initial\.sql +applied +20/);
    const token = await fill(line);
    expect(token).toMatch(/^topup_live_/);
    await line.mustRun("trial", "reset");
    const report = JSON.parse(await line.mustRun("check", "--json"));
    expect(report).toMatchObject({ ok: true, wrong: [] });
    expect(report.checked.length).toBeGreaterThan(3);
  });

  test("serve, in two processes: what one is told holds at the other within a second", async () => {
    const line = await onPostgres();
    const token = await fill(line);
    const program = commandLine({ env: line.env });
    const [one, two] = await Promise.all([program.start("serve"), program.start("serve")]);
    const purchase = await prepare(one.url, token);
    // Known to both before it is revoked.
    expect((await callOperation(two.url, TOP_UP, token, purchase)).status).toBe(200);
    const replay = await callOperation(one.url, TOP_UP, token, purchase);
    expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([200, "true"]);

    const beforeRotation = await prepare(two.url, token);
    await line.mustRun("secret", "rotate");
    expect((await callOperation(one.url, TOP_UP, token, beforeRotation)).status).toBe(200);
    expect((await callOperation(two.url, TOP_UP, token, await prepare(one.url, token))).status).toBe(200);

    const { id } = JSON.parse(await line.mustRun("token", "list", "--json"));
    await line.mustRun("token", "revoke", id);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (const { url } of [one, two]) {
      expect((await callOperation(url, TOP_UP, token, purchase)).json.code).toBe("400ac004");
    }
    for (const { signal } of [one, two]) signal("SIGTERM");
    expect([await one.ended, await two.ended]).toEqual([0, 0]);
    expect((await line.run("check")).code).toBe(0);
  });

  test("serve, which says where it keeps things without the password", async () => {
    const { url, made } = makeEmptyDatabase();
    await made;
    const secret = new URL(url);
    // The server of the tests trusts everybody, with any password.
    secret.password = "not-for-the-log";
    const served = await commandLine({ env: { TOPUPD_DATABASE: secret.href } }).start("serve");
    const listening = logLines(served.stderr()).find(({ msg }) => msg === "listening");
    expect(listening?.["database"]).toBe(secret.href.replace("not-for-the-log", "***"));
    served.signal("SIGTERM");
    expect(await served.ended).toBe(0);
    expect(served.stderr() + served.stdout()).not.toContain("not-for-the-log");
  });
});

describe("a PostgreSQL that cannot be had", () => {
  test.each([
    [
      "is not there",
      "postgres://topupd:pass@127.0.0.1:1/topupd",
      /the connection to PostgreSQL failed: .*ECONNREFUSED/,
    ],
    ["has no such database", undefined, /PostgreSQL has no database of this name: make it with createdb/],
  ])("%s: every command says so, and nothing hangs", async (_, address, said) => {
    const url = new URL(address ?? makeEmptyDatabase().url);
    if (address === undefined) url.pathname = "/there_is_none";
    const env = { TOPUPD_DATABASE: url.href };
    const [office, program] = [officeLine({ env }), commandLine({ env })];
    for (const words of [["check"], ["partner", "list"], ["migrate", "--status"], ["serve", "--port", "0"]]) {
      const { code, stdout, stderr } = await (words[0] === "serve" ? program : office).run(...words);
      expect({ words, code, stdout }).toEqual({ words, code: 1, stdout: "" });
      expect(stderr).toMatch(said);
      expect(stderr.split("\n")).toHaveLength(2);
    }
  });
});
