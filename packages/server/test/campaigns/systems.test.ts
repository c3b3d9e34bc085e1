import { expect, onTestFinished, test } from "vitest";
import { counter } from "../../campaign/counter.ts";
import { facts } from "../../campaign/facts.ts";
import { commands, sqliteGround } from "../../campaign/faults/commands.ts";
import { disk } from "../../campaign/faults/disk.ts";
import { failover } from "../../campaign/faults/failover.ts";
import { postgresFaults } from "../../campaign/faults/postgres.ts";
import { power } from "../../campaign/power/power.ts";
import { lacksCompiler } from "../../campaign/preload.ts";
import { sessions } from "../../campaign/sessions.ts";
import { makeEmptyDatabase } from "../support/postgres-database.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/service.ts";

/* Short slices of the campaigns about the counter, a power cut, and the systems beside topupd. */

test("a sale at the counter is made once, with double clicks, lost answers and killed processes", async () => {
  const campaign = counter({ seed: 1, sales: 40, kills: 1, sellers: 5, workers: 2, cwd: temporaryFolder() });
  await expect(campaign).resolves.toMatch(/^40 sales by 5 sellers, 1 kills/);
}, 120_000);

const lacking = lacksCompiler();
if (lacking !== undefined) process.stdout.write(`Faults of disks are ${lacking}\n`);
test.skipIf(lacking !== undefined)(
  "no power cut loses what was acknowledged, and one of a service that does not flush does",
  async () => {
    const campaign = power({ seed: 1, images: 100, cwd: temporaryFolder() });
    await expect(campaign).resolves.toMatch(/^[1-9]\d+ images .* control: [1-9]/);
  },
  120_000,
);

test.skipIf(lacking !== undefined)(
  "a service whose disk fails, is full or hangs loses no acknowledged top-up",
  async () => {
    await expect(disk({ seed: 5, rounds: 2, cwd: temporaryFolder() })).resolves.toMatch(/^2 rounds, [1-4] faults/);
  },
  120_000,
);

test("nor does one whose PostgreSQL is cut off, hangs, or has its sessions killed", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.close());
  const { url: database, made } = makeEmptyDatabase(server.url, () => {});
  await made;
  const campaign = postgresFaults({ seed: 1, rounds: 1, cwd: temporaryFolder(), server, database });
  await expect(campaign).resolves.toMatch(/^1 rounds, [12] faults/);
}, 120_000);

test("nor one that goes on with a synchronous standby; with an asynchronous one, it does", async () => {
  await expect(failover({ seed: 1, rounds: 1, cwd: temporaryFolder() })).resolves.toContain("control: 1 of 1");
}, 120_000);

test("a restore that is killed leaves all or nothing", async () => {
  const cwd = temporaryFolder();
  const campaign = commands({ seed: 1, rounds: 1, thousands: 1, only: "restore", ...sqliteGround(cwd) });
  await expect(campaign).resolves.toMatch(/^1 rounds, [1-9]\d* kills/);
}, 300_000);

test("sessions end once for each change that alters a user, though routers fail and the service is killed", async () => {
  const { url: radius, made } = makeEmptyDatabase();
  await made;
  const campaign = sessions({ seed: 1, changes: 50, kills: 1, users: 20, cwd: temporaryFolder(), radius });
  await expect(campaign).resolves.toMatch(/^[1-9]\d+ altering changes and [1-9]\d* extensions, 1 kills/);
}, 300_000);

test("every fact arrives at its partner alone, in order, though receivers fail, hang and answer late", async () => {
  const campaign = facts({ seed: 1, facts: 150, kills: 0, cwd: temporaryFolder() });
  await expect(campaign).resolves.toMatch(/^1\d\d facts, 0 kills, [1-9]\d* mishaps/);
}, 120_000);
