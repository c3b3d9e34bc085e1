import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lastBackupAt } from "../../src/office/maintenance/backups.ts";
import { buy, filledLine, type OfficeLine, officeLine, SITA_NET } from "../support/office-line.ts";
import { tamper } from "../support/sqlite-database.ts";

const FILE = "provider.backup";
const NEW = ["--database", "sqlite:./new.db"] as const;
const COPY = ["copy", "--from", "sqlite:./topupd.db", "--to", "sqlite:./new.db"] as const;
const failed = (stderr: string) => ({ code: 1, stdout: "", stderr: `topupd: ${stderr}\n` });
const NOT_EMPTY = "the database to fill is not empty: name a new, empty one";

async function withTopUp(): Promise<OfficeLine> {
  const line = await filledLine({ env: { TOPUPD_TIME_ZONE: "Asia/Kathmandu", TOPUPD_DEFAULT_COUNTRY: "NP" } });
  await buy(line, { ...SITA_NET, partner: "wallet" }, "NET-1M");
  return line;
}

describe.each([
  ["copy", (line: OfficeLine) => line.run(...COPY)],
  ["backup and restore", (line: OfficeLine) => line.run("restore", FILE, ...NEW)],
])("topupd %s", (_, move) => {
  test("gives a database in order with everything in it, history too, once", async () => {
    const line = await withTopUp();
    const commands = ["customer show 9800000101", "transaction list", "partner list", "audit list"].map(
      (each) => `${each} --json`,
    );
    const said = async (...more: readonly string[]) =>
      Promise.all(["why sita", ...commands].map((command) => line.mustRun(...command.split(" "), ...more)));
    const before = await said();
    await line.mustRun("backup", FILE);
    // What times and amounts mean comes with the rows, whatever the environment says.
    line.env["TOPUPD_TIME_ZONE"] = "Europe/Berlin";
    line.env["TOPUPD_CURRENCY_EXPONENT"] = "0";
    delete line.env["TOPUPD_DEFAULT_COUNTRY"];
    const moved = await move(line);
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining(" and verified. ") });
    expect(moved.stdout).toMatch(/^TABLE +ROWS\n/);
    expect(moved.stdout).toMatch(/\nPARTNER .*\nwallet +production +internet +success +1 +1130\n$/);
    for (const name of ["TOPUPD_TIME_ZONE", "TOPUPD_CURRENCY_EXPONENT"]) delete line.env[name];
    expect(await said(...NEW)).toEqual(before);
    expect((await line.run("check", ...NEW)).code).toBe(0);
    expect(await line.run(...COPY)).toEqual(failed(NOT_EMPTY));
  });
});

describe("topupd copy", () => {
  test("of a database that is not there makes none", async () => {
    const line = officeLine();
    expect((await line.run(...COPY)).code).toBe(1);
    expect(existsSync(join(line.folder, "new.db"))).toBe(false);
  });

  test.each([
    [["--from", "sqlite:./a.db"], "required option '--to <URL>' not specified"],
    [["--from", "sqlite:./a.db", "--to", "env:NOWHERE"], "--to is env:NOWHERE, but this variable is not set"],
    [["--from", "a.db", "--to", "sqlite:./a.db"], "--from must be sqlite: and the path of a file"],
    [["--from", "sqlite:./a.db", "--to", "postgres://me:secret@"], '"postgres://me:***@"'],
  ])("called with %j is told what is wrong", async (words, said) => {
    const { code, stdout, stderr } = await officeLine().run("copy", ...words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(said);
    expect(stderr).not.toContain("secret");
  });
});

test("a terminal is shown how far they are, on one line that goes in the end", async () => {
  const { folder } = await filledLine();
  const line = officeLine({ folder, isTerminal: true });
  for (const [words, shown] of [
    [COPY, "copying"],
    [["backup", FILE], "writing"],
    [["restore", FILE, "--database", "sqlite:./other.db"], "restoring"],
    [["import", "customers", "customers.ndjson"], "checking"],
  ] as const)
    expect((await line.run(...words)).stderr).toMatch(
      new RegExp(`^\\r\\u001b\\[K${shown} \\.\\.\\. \\d+ (rows|lines)\\r\\u001b\\[K[^\\r]*$`),
    );
});

describe("topupd backup", () => {
  test("gives the size of the file, which only its owner can read, and is noted", async () => {
    const line = await withTopUp();
    const made = await line.json("backup", FILE);
    const { size, mode } = statSync(join(line.folder, FILE));
    expect([made.bytes, mode & 0o777]).toEqual([size, 0o600]);
    expect(await line.inStore(({ store }) => lastBackupAt(store.engine.db))).toBe(line.now);
  });

  test("overwrites nothing but a former backup, and that only where it is meant", async () => {
    const line = await filledLine();
    await line.mustRun("backup", FILE);
    const former = readFileSync(join(line.folder, FILE));
    expect(await line.run("backup", FILE)).toEqual(
      failed(`${FILE} exists already: name another file, or use --replace`),
    );
    expect(readFileSync(join(line.folder, FILE))).toEqual(former);
    line.now += 1_000;
    await line.mustRun("backup", FILE, "--replace");
    expect(readFileSync(join(line.folder, FILE))).not.toEqual(former);
    writeFileSync(join(line.folder, "notes"), "notes");
    for (const name of ["topupd.db", "notes"])
      expect(await line.run("backup", "--replace", name)).toEqual(
        failed(`${name} is not a backup of topupd, so --replace does not replace it: name another file`),
      );
    expect((await line.run("backup", "none/x.backup")).stderr).toMatch(
      /^topupd: none\/x\.backup cannot be written: ENOENT/,
    );
    expect(readdirSync(line.folder).filter((name) => name.includes("part"))).toEqual([]);
    expect((await line.run("backup", "-")).code).toBe(2);
  });
});

describe("topupd restore", () => {
  test("pauses a bulk change that runs, and names it", async () => {
    const line = await withTopUp();
    await line.mustRun("bulk", "preview", "block", line.write("list.txt", "9800000101"), "--reason", "outage");
    line.askedToStop = Promise.resolve("SIGINT");
    await line.mustRun("bulk", "start", "1");
    line.askedToStop = new Promise(() => {});
    await line.mustRun("backup", FILE);
    expect((await line.run("restore", FILE, ...NEW)).stderr).toContain(
      "These bulk changes are paused: 1. Run topupd bulk continue or topupd bulk cancel for each.\n",
    );
    expect(await line.json("bulk", "show", "1", ...NEW)).toMatchObject({ state: "paused", done: 0 });
  });

  test("pauses the targets that run, and names them", async () => {
    const line = await withTopUp();
    for (const name of ["tv", "crm", "old"]) await line.mustRun("target", "add", name, "--kind", "feed");
    await line.mustRun("target", "pause", "old");
    await line.mustRun("backup", FILE);
    expect((await line.run("restore", FILE, ...NEW)).stderr).toContain(
      "These targets are paused: tv, crm. When this database has replaced the old one, run topupd target resume NAME for each.\n",
    );
    const paused = async (...more: readonly string[]) =>
      (await line.rows("target", "list", ...more)).map((target: { paused: boolean }) => target.paused);
    expect(await paused(...NEW)).toEqual([true, true, true]);
    const entries = await line.rows("audit", "list", "--action", "target.pause", ...NEW);
    expect(entries.map(({ subject }) => subject)).toEqual(["crm", "tv", "old"]);
    const OTHER = ["--database", "sqlite:./other.db"];
    expect(await line.json("restore", FILE, ...OTHER)).toMatchObject({ paused: ["tv", "crm"] });
    expect(await paused()).toEqual([false, false, true]);
  });

  test("of a file that is cut off, damaged or none makes no database", async () => {
    const line = await filledLine();
    await line.mustRun("backup", FILE);
    const whole = readFileSync(join(line.folder, FILE));
    const files: readonly (readonly [name: string, bytes: Uint8Array])[] = [
      ["cut", whole.subarray(0, -1)],
      ["damaged", whole.with(200, (whole[200] as number) ^ 1)],
      ["other", Buffer.from("CREATE TABLE top_up;\n")],
      ["empty", Buffer.alloc(0)],
    ];
    for (const [name, bytes] of files) {
      writeFileSync(join(line.folder, name), bytes);
      const said = `${name} is no whole backup of topupd: it is cut off, damaged or something else`;
      for (const words of [
        ["restore", name, ...NEW],
        ["restore", "--dry-run", name],
      ])
        expect(await line.run(...words)).toEqual(failed(said));
    }
    expect((await line.run("restore", "missing", ...NEW)).stderr).toMatch(/^topupd: missing cannot be read: ENOENT/);
    expect(existsSync(join(line.folder, "new.db"))).toBe(false);
    expect(await line.run("restore", FILE)).toEqual(failed(NOT_EMPTY));
  });

  test("of a database that is not in order restores nothing", async () => {
    const line = await filledLine();
    tamper(join(line.folder, "topupd.db"), "UPDATE subscription SET end_time = '2027-01-01 00:00:00'");
    await line.mustRun("backup", FILE);
    const { code, stderr } = await line.run("restore", FILE, ...NEW);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("2000001") });
    expect(await line.rows("partner", "list", ...NEW)).toEqual([]);
  });
});
