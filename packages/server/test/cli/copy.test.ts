import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { by } from "../support/by.ts";
import { callOperation, commandLine } from "../support/command-line.ts";
import { makeEmptyDatabase } from "../support/postgres-database.ts";
import { fillDatabase, inDatabase, SITA_NET } from "../support/provider-files.ts";
import { tamper } from "../support/sqlite-database.ts";

const OLD = "sqlite:./topupd.db";

describe("topupd copy", () => {
  test("moves a provider to PostgreSQL, where tokens and checkoutIds go on working", async () => {
    const { url, made } = makeEmptyDatabase();
    await made;
    const address = new URL(url);
    // The server of the tests trusts everybody, with any password.
    address.password ||= "not-to-be-shown";
    const line = commandLine({ env: { NEW_DATABASE: address.href } });
    const token = await fillDatabase(line);
    const before = await line.start("serve");
    const quote = async () => (await callOperation(before.url, "get-subscription-package", token, SITA_NET)).json;
    const [used, open] = [await quote(), await quote()].map(({ body }) => ({
      ...SITA_NET,
      checkoutId: body.checkoutId as string,
      bouquetId: "NET-1M",
      amt: 1130,
    }));
    const bought = await callOperation(before.url, "subscription-package-topup", token, used as object);
    expect(bought.status, JSON.stringify(bought.json)).toBe(200);
    before.signal("SIGTERM");
    await before.ended;

    const { code, stdout, stderr } = await line.run("copy", "--from", OLD, "--to", "env:NEW_DATABASE");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^Everything was copied and verified\./),
    });
    expect(stdout + stderr).not.toContain(address.password);
    expect(stdout).toMatch(/^TABLE +ROWS\nprovider +1\n/);
    expect(stdout).toMatch(/\ntop_up +1\n/);
    expect(stdout).toMatch(
      /\nPARTNER +ENVIRONMENT +SERVICE +STATUS +TOP-UPS +AMOUNT\nwallet +production +internet +success +1 +1130\n$/,
    );

    const after = commandLine({ env: { TOPUPD_DATABASE: url } });
    await after.mustRun("check");
    const service = await after.start("serve");
    const again = await callOperation(service.url, "subscription-package-topup", token, used as object);
    expect(again.json.body.txnId).toBe(bought.json.body.txnId);
    const late = await callOperation(service.url, "subscription-package-topup", token, open as object);
    expect(late.status, JSON.stringify(late.json)).toBe(200);
  });

  test("--json gives the rows of each table, and the money", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const copied = JSON.parse(await line.mustRun("copy", "--from", OLD, "--to", "sqlite:./new.db", "--json"));
    expect(copied).toEqual({ rows: expect.objectContaining({ partner: 1, customer: 1, bouquet: 3 }), money: [] });
    const found = await inDatabase(line, ({ store }) => store.listPartners());
    expect(found).toHaveLength(1);
    await line.mustRun("check", "--database", "sqlite:./new.db");
  });

  test("keeps the time zone, whatever the environment says", async () => {
    const line = commandLine({ env: { TOPUPD_TIME_ZONE: "Europe/Berlin", TOPUPD_CURRENCY_EXPONENT: "0" } });
    await inDatabase(line, ({ store }) => store.addPartner("wallet", by(1)), "Asia/Kathmandu");
    await line.mustRun("copy", "--from", OLD, "--to", "sqlite:./new.db");
    await commandLine({ folder: line.folder }).mustRun(
      "check",
      "--database=sqlite:./new.db",
      "--time-zone=Asia/Kathmandu",
    );
  });

  test("refuses a database that is filled, and a second time therefore", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const words = ["copy", "--from", OLD, "--to", "sqlite:./new.db"];
    await line.mustRun(...words);
    const stderr = "topupd: the database to fill is not empty: give one to which nothing was added yet\n";
    expect(await line.run(...words)).toEqual({ code: 1, stdout: "", stderr });
  });

  test("of a database that is not in order copies nothing, and says what is wrong", async () => {
    const line = commandLine();
    await fillDatabase(line);
    tamper(join(line.folder, "topupd.db"), "UPDATE subscription SET end_at = end_at + 86400000");
    const { code, stdout, stderr } = await line.run("copy", "--from", OLD, "--to", "sqlite:./new.db");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      "topupd: nothing was copied: customer 2000001 (production), internet: Fiber 100 Mbps is not the fold of its grants\n",
    );
    expect(await line.mustRun("partner", "list", "--database", "sqlite:./new.db", "--json")).toBe("[]\n");
  });

  test("of a database that is not there makes none", async () => {
    const line = commandLine();
    const { code, stderr } = await line.run("copy", "--from", OLD, "--to", "sqlite:./new.db");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "topupd: there is no database at ./topupd.db\n" });
    expect(existsSync(join(line.folder, "new.db"))).toBe(false);
  });

  test.each([
    [["--from", OLD], "required option '--to <URL>' not specified"],
    [["--to", OLD], "required option '--from <URL>' not specified"],
    [["--from", OLD, "--to", "sqlite:topupd.db"], "--from and --to name the same database"],
    [["--from", OLD, "--to", "env:NOWHERE"], "--to is env:NOWHERE, but there is no variable of this name"],
    [["--from", "topupd.db", "--to", OLD], "--from must be sqlite: and the path of a file"],
    [["--from", OLD, "--to", "postgres://me:secret@"], '"postgres://me:***@"'],
  ])("called with %j is told what is wrong", async (words, said) => {
    const { code, stdout, stderr } = await commandLine().run("copy", ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(said);
    expect(stderr).not.toContain("secret");
  });
});
