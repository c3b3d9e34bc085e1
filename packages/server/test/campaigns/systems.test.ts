import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, onTestFinished, test } from "vitest";
import { askPostgres } from "../../campaign/ask-postgres.ts";
import { counter } from "../../campaign/counter.ts";
import { facts } from "../../campaign/facts.ts";
import { commands, sqliteGround } from "../../campaign/faults/commands.ts";
import { disk } from "../../campaign/faults/disk.ts";
import { failover } from "../../campaign/faults/failover.ts";
import { power } from "../../campaign/power/power.ts";
import { powerOfServer } from "../../campaign/power/server.ts";
import { lacksCompiler } from "../../campaign/preload.ts";
import { sessions } from "../../campaign/sessions.ts";
import { makeEmptyDatabase } from "../support/postgres-database.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/service.ts";

/* Short slices of the campaigns about the counter, a power cut, and the systems beside topupd. */

test("a sale at the counter is made once, with double clicks, lost answers and killed processes", async () => {
  const campaign = counter({ seed: 1, sales: 25, kills: 1, sellers: 5, workers: 2, cwd: temporaryFolder() });
  await expect(campaign).resolves.toMatch(/^25 sales by 5 sellers, 1 kills/);
});

const lacking = lacksCompiler();
if (lacking !== undefined) process.stdout.write(`Faults of disks are ${lacking}\n`);
test.skipIf(lacking !== undefined)(
  "no power cut loses what was acknowledged, and one of a service that does not flush does",
  async () => {
    const campaign = power({ seed: 1, images: 25, cwd: temporaryFolder() });
    await expect(campaign).resolves.toMatch(/^[1-9]\d+ images .* control: [1-9]/);
  },
);

test.skipIf(lacking !== undefined)(
  "a service whose disk fails, is full or hangs loses no acknowledged top-up",
  async () => {
    await expect(disk({ seed: 5, rounds: 1, cwd: temporaryFolder() })).resolves.toMatch(/^1 rounds, [12] faults/);
  },
);

test("a failover to a synchronous standby loses no acknowledged top-up; one to an asynchronous standby does", async () => {
  await expect(failover({ seed: 1, rounds: 1, cwd: temporaryFolder() })).resolves.toContain("control: 1 of 1");
});

test("a provider's own PostgreSQL that loses nothing and promises enough gets a page that says so", async () => {
  const url = inject("postgresUrl");
  const page = await powerOfServer({ seed: 2, rounds: 1, processes: 1, cwd: temporaryFolder(), url });
  expect(page).toMatch(/^PostgreSQL .*\nThis server lost nothing in 1 rounds, [12] faults .* [1-9]\d* acknowledged/);
  expect(page).toMatch(/fsync=on.*synchronous_commit=on.*\nStandbys: none\.\n[\s\S]*Half of the 500 commits .* took/);
  expect(await triesOn(url)).toEqual([]);
});

test("the page of one that loses a top-up says that, and what synchronous_commit=off means", async () => {
  const { url, made } = makeEmptyDatabase();
  await made;
  await askPostgres(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
  let [lost, hasEnded] = [0, false];
  const lose = async () => {
    for (; lost === 0 && !hasEnded; await sleep(20))
      for (const name of await triesOn(url)) {
        const pastKeys = { pathname: `/${name}`, search: "?options=-c%20session_replication_role%3Dreplica" };
        const { href } = Object.assign(new URL(url), pastKeys);
        lost = (await askPostgres(href, "DELETE FROM top_up RETURNING txn_id").catch(() => [])).length;
      }
  };
  const examined = powerOfServer({ seed: 2, rounds: 1, processes: 1, cwd: temporaryFolder(), url });
  const ended = examined.catch(() => {}).then(() => (hasEnded = true));
  await Promise.all([ended, lose()]);
  expect(lost).toBeGreaterThan(0);
  const said = /This server lost what was acknowledged: [\s\S]*\nsynchronous_commit=off: topupd switches it on/;
  await expect(examined).rejects.toThrow(said);
  expect(await triesOn(url)).toEqual([]);
});

test("the page of one that topupd refuses has topupd's reason, and no load is run", async () => {
  const server = await startPostgres({ fsync: "off" });
  onTestFinished(() => server.close());
  const { url } = server;
  const examined = powerOfServer({ seed: 1, rounds: 1, processes: 1, cwd: temporaryFolder(), url });
  await expect(examined).rejects.toThrow(/No load was run\.\nUNSAFE: PostgreSQL runs with fsync=off/);
  await askPostgres(url, "CREATE ROLE plain LOGIN");
  const plain = Object.assign(new URL(url), { username: "plain" }).href;
  const mayNot = powerOfServer({ seed: 1, rounds: 1, processes: 1, cwd: temporaryFolder(), url: plain });
  await expect(mayNot).rejects.toThrow("permission denied to create database. The role needs CREATEDB.");
});

/** The databases that examine a server. */
async function triesOn(url: string): Promise<string[]> {
  const rows = await askPostgres(url, "SELECT datname FROM pg_database WHERE datname LIKE 'topupd_try_%'");
  return rows.map(({ datname }) => String(datname));
}

test("a restore that is killed leaves all or nothing", async () => {
  const cwd = temporaryFolder();
  const campaign = commands({ seed: 12, rounds: 1, thousands: 1, only: "restore", ...sqliteGround(cwd) });
  await expect(campaign).resolves.toMatch(/^1 rounds, [1-9]\d* kills/);
}, 300_000);

test("sessions end once for each change that alters a user, though routers fail and the service is killed", async () => {
  const { url: radius, made } = makeEmptyDatabase();
  await made;
  const campaign = sessions({ seed: 1, changes: 10, kills: 1, users: 8, cwd: temporaryFolder(), radius });
  await expect(campaign).resolves.toMatch(/^[1-9]\d* altering changes and [1-9]\d* extensions, 1 kills/);
}, 300_000);

test("every fact arrives at its partner alone, though receivers fail, hang and answer late", async () => {
  const campaign = facts({ seed: 1, facts: 40, kills: 0, cwd: temporaryFolder() });
  await expect(campaign).resolves.toMatch(/^(?:[4-9]\d|1\d\d) facts, 0 kills, [1-9]\d* mishaps/);
});
