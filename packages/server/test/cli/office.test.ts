import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filledLine, historyLine, officeLine, rowsOf } from "../support/office-line.ts";
import { SITA } from "../support/provider-files.ts";
import { rawConnection, tamper } from "../support/sqlite-database.ts";

const failed = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });

describe("topupd check", () => {
  test("of a database in order is a success, and names what was checked", async () => {
    const line = await filledLine();
    expect(await line.mustRun("check")).toMatch(/^(ok {5}.* \(\d+\)\n){5,}$/);
    expect(await line.json("check")).toEqual({ ok: true, checked: expect.any(Array), wrong: [] });
  });

  test("of a damaged database fails (3), and names what is wrong", async () => {
    const line = await filledLine();
    tamper(join(line.folder, "topupd.db"), "UPDATE subscription SET end_time = '2027-01-01 00:00:00'");
    const text = await line.run("check");
    expect(text).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^topupd: the database is not in order: \d+ findings?\n$/),
    });
    expect(text.stdout).toMatch(/^WRONG {2}.*2000001/m);
    const json = await line.run("check", "--json");
    expect(json.code).toBe(3);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, wrong: [expect.stringContaining("2000001")] });
  });

  test("and whatever else needs a database misses it, and makes none", async () => {
    const line = officeLine();
    const commands = [
      "check",
      "partner list",
      "token list",
      "customer show 7",
      "report settlement --from 2026-11-01 --to 2026-11-01",
    ];
    for (const command of commands)
      expect(await line.run(...command.split(" "))).toEqual(
        failed(`there is no database at ${join(line.folder, "topupd.db")}`),
      );
    expect(readdirSync(line.folder)).toEqual([]);
  });
});

describe("topupd migrate", () => {
  test("makes the tables, once, and tells how far they are", async () => {
    const line = officeLine();
    const path = join(line.folder, "topupd.db");
    expect(await line.run("migrate", "--status")).toEqual({
      code: 3,
      stdout: "NAME              STATE    APPLIED AT\n0001_initial.sql  pending  -\n",
      stderr: "topupd: the database is not up to date: run topupd migrate\n",
    });
    expect(existsSync(path)).toBe(false);
    const first = await line.mustRun("migrate");
    expect(first).toMatch(/\n0001_initial\.sql +applied +\d{4}-\d\d-\d\dT[\d:.]+Z\n$/);
    expect([await line.mustRun("migrate"), await line.mustRun("migrate", "--status")]).toEqual([first, first]);
    tamper(path, "INSERT INTO schema_migration VALUES (2, '0002_later.sql', 'x', 5)");
    const newer = await line.run("migrate", "--status", "--json");
    expect(newer).toMatchObject({ code: 3, stderr: "topupd: a newer topupd made the database: use that one\n" });
    expect(JSON.parse(newer.stdout)[1]).toMatchObject({ state: "unknown", appliedAt: "1970-01-01T00:00:00.005Z" });
  });

  test("refuses a file that is not topupd's", async () => {
    const line = officeLine();
    rawConnection(join(line.folder, "topupd.db")).exec("CREATE TABLE theirs (x)");
    expect(await line.run("migrate")).toEqual(failed("the file is a database, but not one of topupd"));
  });
});

describe("topupd audit", () => {
  test("list finds by day, author, action, subject and customer, newest first, page by page", async () => {
    const line = await filledLine();
    line.now += 2 * 86_400_000;
    await line.mustRun("partner", "suspend", "wallet", "--as", "maya");
    const actions = async (...words: string[]) =>
      (await line.rows("audit", "list", ...words)).map(({ action }: { action: string }) => action);
    expect(await actions()).toEqual(["partner.suspend", "partner.add", "customers.import", "catalogue.import"]);
    expect(await actions("--from", "2026-11-25")).toEqual(["partner.suspend"]);
    expect(await actions("--author", "maya")).toEqual(["partner.suspend"]);
    expect(await actions("--subject", "wallet", "--action", "partner.add")).toEqual(["partner.add"]);
    const [imported] = await line.rows("audit", "list", "--cuid", SITA.cuid);
    expect(imported.after).toMatchObject({ first_name: "Sita", "internet sita": "active" });
    const page = await line.run("audit", "list", "--limit", "3");
    expect(page.stderr).toBe("There are more: add --cursor 1\n");
    expect(page.stdout).toContain(
      '4  2026-11-25 09:00:00  partner.suspend  wallet  by maya\n    {"status":"active"} -> {"status":"suspended"}\n',
    );
    expect(await actions("--cursor", "1")).toEqual(["catalogue.import"]);
  });

  test("verify finds what was changed or cut off, by a checkpoint that export ends with", async () => {
    const line = await filledLine();
    const [, , , { checkpoint }] = rowsOf(await line.mustRun("audit", "export"));
    const verify = () => line.run("audit", "verify", "--checkpoint", checkpoint);
    expect(await verify()).toEqual({
      code: 0,
      stdout: "ok     3 entries, each follows from the one before it\n",
      stderr: `To find out later whether anything up to here was changed, keep this elsewhere: --checkpoint ${checkpoint}\n`,
    });
    tamper(join(line.folder, "topupd.db"), "DELETE FROM audit_entry WHERE seq = 3");
    expect(await verify()).toEqual({
      ...{ code: 3, stdout: "" },
      stderr: "topupd: the audit trail is not the one of checkpoint 3: it ends with entry 2\n",
    });
    expect((await line.run("audit", "verify", "--checkpoint", "3:x")).code).toBe(2);
  });
});

describe("topupd prune", () => {
  test("says what would go, and then what has gone, and every list says that it is not all", async () => {
    const line = await historyLine();
    const row = { ...SITA, connections: { tv: [{ stb: "00077", status: "inactive" }] } };
    const file = line.ndjson("c.ndjson", row);
    await line.mustRun("import", "customers", file, "--as-of", "2027-01-10 11:00:00");
    const went = "what may be deleted from before 2026-07-10 00:00:00 (Asia/Kathmandu)\n";
    expect(await line.run("prune", "--older-than", "6m", "--preview")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`would go           ${went}`),
      stderr: "This is a preview: nothing was changed.\n",
    });
    expect(await line.rows("transaction", "list")).toHaveLength(3);
    const gone = await line.json("prune", "--older-than", "6m", "--as", "maya", "--reason", "books");
    expect(gone).toMatchObject({ before: "2026-07-09T18:15:00.000Z", preview: false, topUps: 2 });
    expect(gone.ledgerEntries).toBeGreaterThan(1);
    const listed = await line.run("transaction", "list", "--json");
    expect(rowsOf(listed.stdout)).toHaveLength(1);
    const told = "History before 2026-07-10 was deleted (topupd prune): the list may be incomplete.\n";
    expect(listed.stderr).toBe(told);
    const why = (await line.mustRun("why", "sita", "--cuid", SITA.cuid)).replace(/\s+/g, " ");
    expect(why).toContain("The history before it was deleted.");
    expect(await line.mustRun("audit", "list", "--author", "maya")).toContain("history.prune  horizon");
  });
});

test("topupd trial reset puts the trial customers back, whatever was granted to them", async () => {
  const line = officeLine();
  const asBefore = async () => /ends .*/.exec(await line.mustRun("why", "trial1"))?.[0];
  await line.mustRun("trial", "reset");
  const end = await asBefore();
  await line.mustRun("subscription", "goodwill", "internet", "trial1", "--days", "3", "--reason", "x");
  expect(await asBefore()).not.toBe(end);
  expect((await line.run("trial", "reset")).stderr).toContain("in its first state: customers 1000001 to 1000005");
  expect(await asBefore()).toBe(end);
});
