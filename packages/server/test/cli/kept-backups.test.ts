import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readProblems } from "../../src/office/alerts/problems.ts";
import { lastCare } from "../../src/office/maintenance/backups.ts";
import { buy, filledLine, type OfficeLine, SITA_NET } from "../support/office-line.ts";
import { tamper } from "../support/sqlite-database.ts";

const HOUR_MS = 3_600_000;
const NEW = ["--database", "sqlite:./new.db"] as const;

async function withFolder(): Promise<{ line: OfficeLine; kept: () => string[] }> {
  const line = await filledLine({ env: { TOPUPD_BACKUP_FOLDER: "kept" } });
  mkdirSync(join(line.folder, "kept"));
  return { line, kept: () => readdirSync(join(line.folder, "kept")).sort() };
}

/** What is told about backups and checks while a timer makes backups. */
function toldBy(line: OfficeLine) {
  return line.inStore(async ({ store, clock }) => {
    const problems = await readProblems({ store, clock, backsUpHourly: true });
    const care = problems.filter(({ kind }) => kind === "no_backup" || kind === "no_check");
    return care.map(({ kind, fault }) => [kind, fault]);
  });
}

test("an hourly run keeps a backup and deletes the oldest, but no other file", async () => {
  const { line, kept } = await withFolder();
  const [env, at] = [{ TOPUPD_BACKUP_HOURS: "2", TOPUPD_BACKUP_DAYS: "0" }, line.now];
  Object.assign(line.env, env);
  writeFileSync(join(line.folder, "kept", "notes"), "mine");
  for (line.now = at; line.now <= at + 2 * HOUR_MS; line.now += HOUR_MS) await line.mustRun("backup", "--keep");
  expect(kept()).toEqual(["notes", "topupd-20261123T100000Z.backup", "topupd-20261123T110000Z.backup"]);
  expect(statSync(join(line.folder, "kept", "topupd-20261123T100000Z.backup")).mode & 0o777).toBe(0o600);
});

test("the first run of a day checks the database", async () => {
  const { line } = await withFolder();
  const checkedAt = () => line.inStore(async ({ store }) => (await lastCare(store.engine.db, "checkPassed")).at);
  const first = line.now;
  await line.mustRun("backup", "--keep");
  line.now += HOUR_MS;
  await line.mustRun("backup", "--keep");
  expect(await checkedAt()).toBe(first);
  line.now += 24 * HOUR_MS;
  await line.mustRun("backup", "--keep");
  expect(await checkedAt()).toBe(line.now);
});

test("a check that finds something wrong is told until a check passes, and the backup is made all the same", async () => {
  const { line, kept } = await withFolder();
  tamper(join(line.folder, "topupd.db"), "UPDATE subscription SET seq = seq + 1");
  expect(await line.run("backup", "--keep")).toMatchObject({ code: 3, stderr: expect.stringContaining("WRONG  ") });
  expect(kept()).toHaveLength(1);
  const told = [["no_check", expect.stringMatching(/^topupd check found what is wrong: \d$/)]];
  expect(await toldBy(line)).toEqual(told);
  line.now += HOUR_MS;
  expect((await line.run("backup", "--keep")).code).toBe(3);
  expect(await toldBy(line)).toEqual(told);
  tamper(join(line.folder, "topupd.db"), "UPDATE subscription SET seq = seq - 1");
  await line.mustRun("check");
  expect(await toldBy(line)).toEqual([]);
});

test("a backup is missed after two hours", async () => {
  const { line } = await withFolder();
  await line.mustRun("backup", "--keep");
  line.now += 2 * HOUR_MS;
  expect(await toldBy(line)).toEqual([]);
  line.now += 1;
  expect(await toldBy(line)).toEqual([["no_backup", undefined]]);
});

test("a folder that is missing is not made, and is told at once", async () => {
  const { line } = await withFolder();
  await line.mustRun("backup", "--keep");
  line.env["TOPUPD_BACKUP_FOLDER"] = "unmounted";
  const { code, stderr } = await line.run("backup", "--keep");
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^topupd: unmounted cannot be read: ENOENT/)]);
  expect(readdirSync(line.folder)).not.toContain("unmounted");
  expect(await toldBy(line)).toEqual([["no_backup", expect.stringContaining("unmounted cannot be read")]]);
  line.env["TOPUPD_BACKUP_FOLDER"] = "kept";
  line.now += HOUR_MS;
  await line.mustRun("backup", "--keep");
  expect(await toldBy(line)).toEqual([]);
});

test("a backup that does not verify is told, deleted, and deletes no other", async () => {
  const { line, kept } = await withFolder();
  line.env["TOPUPD_BACKUP_HOURS"] = "1";
  line.env["TOPUPD_BACKUP_DAYS"] = "0";
  await line.mustRun("backup", "--keep");
  line.now += HOUR_MS;
  line.spoilFiles = (bytes) => bytes.with(bytes.length - 20, (bytes.at(-20) as number) ^ 1);
  expect((await line.run("backup", "--keep")).stderr).toContain("is no whole backup of topupd");
  expect(kept()).toEqual(["topupd-20261123T090000Z.backup"]);
  expect(await toldBy(line)).toEqual([["no_backup", expect.stringContaining("is no whole backup of topupd")]]);
});

test("a backup that does not verify replaces no other", async () => {
  const { line } = await withFolder();
  await line.mustRun("backup", "last.backup");
  line.spoilFiles = (bytes) => bytes.subarray(1);
  expect((await line.run("backup", "--replace", "last.backup")).stderr).toContain("is no whole backup of topupd");
  expect(readdirSync(line.folder).filter((name) => name.startsWith("last"))).toEqual(["last.backup"]);
  await line.mustRun("restore", "--dry-run", "last.backup");
});

test("the newest backup that is still whole is restored", async () => {
  const { line, kept } = await withFolder();
  await line.mustRun("backup", "--keep");
  line.now += HOUR_MS;
  await line.mustRun("backup", "--keep");
  const [, newest = ""] = kept();
  writeFileSync(join(line.folder, "kept", newest), readFileSync(join(line.folder, "kept", newest)).subarray(1));
  const { code, stderr } = await line.run("restore", "--latest", ...NEW);
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${newest} is no whole backup of topupd`)]);
  expect(stderr).toContain("It lacks everything recorded after 2026-11-23T09:00:00.000Z");
  writeFileSync(join(line.folder, "kept", kept()[0] ?? ""), "");
  expect(await line.run("restore", "--latest", "--dry-run")).toMatchObject({
    ...{
      code: 1,
      stderr: expect.stringContaining(
        "topupd: kept has no backup from before 2026-11-23T10:00:00.000Z that can be restored\n",
      ),
    },
  });
});

test.each([
  ["backup", "name either a file, or --keep"],
  ["backup x.backup --keep", "name either a file, or --keep"],
  ["backup --keep", "no folder of backups is set: set --backup-folder"],
  ["restore", "name either a file, or --latest"],
  ["restore --latest", "no folder of backups is set: set --backup-folder"],
])("topupd %s is told what is wrong", async (words, said) => {
  const line = await filledLine();
  expect(await line.run(...words.split(" "))).toEqual({ code: 2, stdout: "", stderr: `topupd: ${said}\n` });
});

test("a machine that is lost: the newest backup lacks what came after it, and nothing else", async () => {
  const { line } = await withFolder();
  const listed = async (...more: readonly string[]) =>
    (await line.rows("transaction", "list", ...more)).map(({ txnId }: { txnId: string }) => txnId);
  await buy(line, { ...SITA_NET, partner: "wallet" }, "NET-1M");
  await line.mustRun("backup", "--keep");
  line.now += HOUR_MS;
  await buy(line, { ...SITA_NET, partner: "wallet" }, "NET-1M");
  await line.mustRun("backup", "--keep");
  const before = await listed();
  line.now += HOUR_MS / 2;
  const lost = await buy(line, { ...SITA_NET, partner: "wallet" }, "NET-1M");
  await line.mustRun("restore", "--latest", ...NEW);
  const restored = await listed(...NEW);
  expect(restored).toEqual(before);
  expect((await listed()).filter((id) => !restored.includes(id))).toEqual([lost]);
  expect((await line.run("check", ...NEW)).code).toBe(0);
  expect(readFileSync(join(line.folder, "new.db")).length).toBeGreaterThan(0);
});
