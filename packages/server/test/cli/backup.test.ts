import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { callOperation, commandLine } from "../support/command-line.ts";
import { makeEmptyDatabase, withClient } from "../support/postgres-database.ts";
import { fillDatabase, SITA_NET } from "../support/provider-files.ts";

const FILE = "provider.backup";
const WHEN = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

describe("topupd backup", () => {
  test("is taken while the service goes on, and restored into PostgreSQL, where tokens and checkoutIds go on working", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const before = await line.start("serve");
    const quote = async () => (await callOperation(before.url, "get-subscription-package", token, SITA_NET)).json;
    const [used, open] = [await quote(), await quote()].map(({ body }) => ({
      ...SITA_NET,
      checkoutId: body.checkoutId as string,
      bouquetId: "NET-1M",
      amt: 1130,
    })) as [object, object];
    const bought = await callOperation(before.url, "subscription-package-topup", token, used);

    const { code, stdout, stderr } = await line.run("backup", FILE);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        new RegExp(`^${FILE} has \\d+ bytes, and holds everything that was acknowledged before ${WHEN}\\.`),
      ),
    });
    expect(stdout).toMatch(/^TABLE +ROWS\nprovider +1\n/);
    expect(stdout).toMatch(/\nwallet +production +internet +success +1 +1130\n$/);
    expect(statSync(join(line.folder, FILE)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(line.folder, FILE)).includes(token)).toBe(false);
    expect(gunzipSync(readFileSync(join(line.folder, FILE))).includes(token)).toBe(false);
    before.signal("SIGTERM");
    await before.ended;

    const { url, made } = makeEmptyDatabase();
    await made;
    const after = commandLine({ folder: line.folder, env: { TOPUPD_DATABASE: url } });
    const restored = await after.run("restore", FILE);
    expect(restored.stdout).toBe(stdout);
    expect(restored.stderr).toMatch(new RegExp(`^Everything was restored into .* and verified\\. .*${WHEN}`));
    await after.mustRun("check");
    const service = await after.start("serve");
    const again = await callOperation(service.url, "subscription-package-topup", token, used);
    expect(again.json.body.txnId).toBe(bought.json.body.txnId);
    const late = await callOperation(service.url, "subscription-package-topup", token, open);
    expect(late.status, JSON.stringify(late.json)).toBe(200);
  });

  test("--json gives the file, the time, the bytes, the rows and the money", async () => {
    const line = commandLine();
    await fillDatabase(line);
    const made = JSON.parse(await line.mustRun("backup", FILE, "--json"));
    expect(made).toEqual({
      file: FILE,
      takenAt: expect.stringMatching(new RegExp(`^${WHEN}$`)),
      bytes: statSync(join(line.folder, FILE)).size,
      rows: expect.objectContaining({ partner: 1, customer: 1, bouquet: 3, top_up: 0 }),
      money: [],
    });
  });

  test("leaves a file that is there as it is, unless it is a former backup that is to give way", async () => {
    const line = commandLine();
    await fillDatabase(line);
    await line.mustRun("backup", FILE);
    const former = readFileSync(join(line.folder, FILE));
    expect(await line.run("backup", FILE)).toEqual({
      ...{ code: 1, stdout: "" },
      stderr: `topupd: ${FILE} is there already: name another file, or give --overwrite\n`,
    });
    expect(readFileSync(join(line.folder, FILE))).toEqual(former);
    await line.mustRun("backup", FILE, "--overwrite");
    expect(readFileSync(join(line.folder, FILE))).not.toEqual(former);
    await line.mustRun("restore", "--dry-run", FILE);
  });

  test("overwrites nothing but a backup, the database least of all", async () => {
    const line = commandLine();
    await fillDatabase(line);
    writeFileSync(join(line.folder, "notes"), "notes");
    mkdirSync(join(line.folder, "folder"));
    symlinkSync("topupd.db", join(line.folder, "link"));
    const before = readFileSync(join(line.folder, "topupd.db"));
    for (const name of ["topupd.db", "./topupd.db", "link", "notes"]) {
      expect(await line.run("backup", "--overwrite", name)).toEqual({
        ...{ code: 1, stdout: "" },
        stderr: `topupd: ${name} is no backup of topupd, and is not overwritten\n`,
      });
    }
    for (const name of ["folder", "/dev/null"]) {
      const { code, stderr } = await line.run("backup", "--overwrite", name);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: `topupd: ${name} cannot be written: it is no regular file\n`,
      });
    }
    expect(readFileSync(join(line.folder, "topupd.db"))).toEqual(before);
    expect(readdirSync(line.folder).filter((name) => name.includes("part"))).toEqual([]);
  });

  test("into a folder that is not there, or of a database that is not, makes no file", async () => {
    const line = commandLine();
    expect(await line.run("backup", FILE)).toMatchObject({
      ...{ code: 1, stdout: "", stderr: "topupd: there is no database at ./topupd.db\n" },
    });
    await fillDatabase(line);
    const { code, stdout, stderr } = await line.run("backup", "none/provider.backup");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^topupd: none\/provider\.backup cannot be written: ENOENT: /);
    expect(readdirSync(line.folder).filter((name) => !name.startsWith("topupd.db"))).toEqual([]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "that is stopped with %s leaves no file, and says so",
    async (signal) => {
      const { url, made } = makeEmptyDatabase();
      await made;
      const line = commandLine({ env: { TOPUPD_DATABASE: url } });
      await line.mustRun("partner", "add", "wallet");
      await withClient(url, async (client) => {
        // The backup waits for this table in its midst, for as long as the test likes.
        await client.query("BEGIN; LOCK TABLE retired_checkout IN ACCESS EXCLUSIVE MODE");
        const running = line.launch("backup", FILE);
        await vi.waitFor(() => expect(readdirSync(line.folder).join()).toMatch(/\.part$/), { timeout: 20_000 });
        expect(existsSync(join(line.folder, FILE))).toBe(false);
        running.signal(signal);
        expect(await running.ended).toBe(1);
        expect(running.stderr()).toBe(`topupd: stopped by ${signal}: no backup was made\n`);
        expect(readdirSync(line.folder)).toEqual([]);
      });
    },
  );

  test("for which the disk has no room leaves no file, and says so", async () => {
    const { url, made } = makeEmptyDatabase();
    await made;
    const line = commandLine({ env: { TOPUPD_DATABASE: url } });
    await line.mustRun("trial", "reset");
    // No file may become larger than one block of 512 bytes, and the trial customers are more.
    const { code, stdout, stderr } = await line.runLimited("ulimit -f 1", "backup", FILE);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^topupd: provider\.backup cannot be written: EFBIG: /);
    expect(readdirSync(line.folder)).toEqual([]);
  });
});
