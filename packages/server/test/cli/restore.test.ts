import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { linesOf, sealedAnew } from "../backup/backups.ts";
import { by } from "../support/by.ts";
import { type CommandLine, commandLine } from "../support/command-line.ts";
import { customersFound, fillDatabase, inDatabase } from "../support/provider-files.ts";
import { tamper } from "../support/sqlite-database.ts";

const FILE = "provider.backup";
const NEW = ["--database", "sqlite:./new.db"] as const;

/** A folder with a backup of a provider in it. */
async function makeBackup(): Promise<CommandLine> {
  const line = commandLine();
  await fillDatabase(line);
  await line.mustRun("backup", FILE);
  return line;
}

describe("topupd restore", () => {
  test("fills a database that is in order", async () => {
    const line = await makeBackup();
    await line.mustRun("restore", FILE, ...NEW);
    await line.mustRun("check", ...NEW);
    expect(await line.mustRun("partner", "list", ...NEW)).toBe(await line.mustRun("partner", "list"));
    expect(await customersFound(line, "9800000101")).toEqual(["2000001"]);
  });

  test("--json gives the time, who made the backup, the rows and the money", async () => {
    const line = await makeBackup();
    expect(JSON.parse(await line.mustRun("restore", FILE, "--json", ...NEW))).toEqual({
      file: FILE,
      takenAt: expect.stringMatching(/^\d{4}-.*Z$/),
      topupd: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      store: "sqlite",
      rows: expect.objectContaining({ partner: 1, customer: 1 }),
      money: [],
    });
  });

  test("takes time zone and currency from the backup, whatever the environment says", async () => {
    const line = commandLine();
    await inDatabase(line, ({ store }) => store.addPartner("wallet", by(1)), "Asia/Kathmandu");
    await line.mustRun("backup", FILE);
    const env = { TOPUPD_TIME_ZONE: "Europe/Berlin", TOPUPD_CURRENCY_EXPONENT: "0" };
    await commandLine({ folder: line.folder, env }).mustRun("restore", FILE, ...NEW);
    await line.mustRun("check", ...NEW, "--time-zone=Asia/Kathmandu", "--currency-exponent=2");
  });

  test("refuses a database that is filled, and a second time therefore", async () => {
    const line = await makeBackup();
    const stderr = "topupd: the database to fill is not empty: give one to which nothing was added yet\n";
    expect(await line.run("restore", FILE)).toEqual({ code: 1, stdout: "", stderr });
    await line.mustRun("restore", FILE, ...NEW);
    expect(await line.run("restore", FILE, ...NEW)).toEqual({ code: 1, stdout: "", stderr });
  });

  test("of a file that is cut off, damaged or none makes no database", async () => {
    const line = await makeBackup();
    const whole = readFileSync(join(line.folder, FILE));
    const files: readonly (readonly [name: string, bytes: Uint8Array, said: string])[] = [
      ["cut", whole.subarray(0, -1), "is not a whole backup: its end is missing or damaged, or something follows it"],
      ["half", whole.subarray(0, whole.length / 2), "is not a whole backup"],
      ["damaged", whole.with(200, (whole[200] as number) ^ 1), "is damaged: its bytes are not those that were written"],
      ["other", Buffer.from("CREATE TABLE top_up;\n"), "is no backup of topupd"],
      ["empty", Buffer.alloc(0), "is no backup of topupd"],
      ["newer", await newer(), "was made by topupd 2.0.0\ufffd[2J, which can restore it"],
    ];
    for (const [name, bytes, said] of files) {
      writeFileSync(join(line.folder, name), bytes);
      for (const words of [
        ["restore", name, ...NEW],
        ["restore", "--dry-run", name],
      ]) {
        const { code, stdout, stderr } = await line.run(...words);
        expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
        expect(stderr).toMatch(new RegExp(`^topupd: ${name} .*\n$`));
        expect(stderr).toContain(said);
      }
    }
    expect(existsSync(join(line.folder, "new.db"))).toBe(false);
  });

  test("of a file that is not there says so", async () => {
    const { code, stderr } = await commandLine().run("restore", FILE);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^topupd: provider\.backup cannot be read: ENOENT: /),
    });
  });

  test("of what was not in order restores nothing, and says what is wrong", async () => {
    const line = commandLine();
    await fillDatabase(line);
    tamper(join(line.folder, "topupd.db"), "UPDATE subscription SET end_at = end_at + 86400000");
    await line.mustRun("backup", FILE);
    const { code, stdout, stderr } = await line.run("restore", FILE, ...NEW);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^topupd: nothing was copied: customer 2000001 .* is not the fold of its grants\n$/);
    expect(await line.mustRun("partner", "list", ...NEW, "--json")).toBe("[]\n");
  });

  test("--dry-run shows what the backup holds, and touches no database", async () => {
    const line = await makeBackup();
    const elsewhere = commandLine();
    const path = join(line.folder, FILE);
    const { code, stdout, stderr } = await elsewhere.run("restore", "--dry-run", path);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/ is whole: topupd \d.* made it of sqlite at 2.*Z\. Nothing was restored\.\n$/),
    });
    expect(stdout).toBe(await line.mustRun("backup", FILE, "--overwrite"));
    expect(existsSync(join(elsewhere.folder, "topupd.db"))).toBe(false);
    expect(JSON.parse(await elsewhere.mustRun("restore", "--dry-run", path, "--json"))).toMatchObject({
      store: "sqlite",
      rows: { partner: 1 },
    });
  });
});

/** A backup of a format that is still to come, by a topupd whose version would clear the screen. */
async function newer(): Promise<Uint8Array> {
  const [header = "", ...others] = await linesOf();
  const changed = { ...(JSON.parse(header) as object), format: 2, topupd: "2.0.0\u001b[2J" };
  return sealedAnew([JSON.stringify(changed), ...others]);
}
