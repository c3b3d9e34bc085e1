import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { backup } from "../campaign/backup.ts";
import { kill } from "../campaign/kill.ts";
import { lossy } from "../campaign/lossy.ts";
import { lostSessions } from "../campaign/lost-sessions.ts";
import { model } from "../campaign/model.ts";
import { type MonthOptions, month } from "../campaign/month.ts";
import { createDatabase } from "../campaign/postgres.ts";
import { race } from "../campaign/race.ts";
import { storm } from "../campaign/storm.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { makeEmptyDatabase, makePostgresDatabase } from "./support/postgres-database.ts";
import { startPostgres } from "./support/postgres-server.ts";
import { temporaryFolder } from "./support/service.ts";

/*
 * Short slices of the campaigns: the same code, the same promises. The long forms are
 * `npm run campaign -- race|kill|lossy|lost-sessions|model|month|storm|backup --store sqlite|postgres --seed N --rounds N`.
 */

describe("on SQLite", () => {
  test("twenty callers on two processes with one checkoutId make one transaction and get twenty equal answers", async () => {
    await expect(race({ seed: 1, rounds: 25, cwd: temporaryFolder(), callers: 20 })).resolves.toContain("25 rounds");
  }, 120_000);

  test("no acknowledged top-up is lost or made twice when the service is killed twelve times under load", async () => {
    await expect(kill({ seed: 1, rounds: 12, cwd: temporaryFolder() })).resolves.toContain("12 kills");
  }, 300_000);

  test("a partner's client brings every top-up through a lossy network to an end that the database agrees with", async () => {
    const report = await lossy({ seed: 1, rounds: 60, cwd: temporaryFolder() });
    expect(report).toContain("60 top-ups");
    // Not `refused`: on a busy machine each refusal may come later than its caller waits, and end as `never`.
    for (const outcome of ["topped_up", "never", "unknown"])
      expect(report).toMatch(new RegExp(`^ +${outcome}: [1-9]`, "m"));
  }, 120_000);

  test("backups under load are restored with all that was acknowledged before them", async () => {
    const report = await backup({ seed: 1, rounds: 2, cwd: temporaryFolder(), createDatabase: makeEmpty });
    expect(report).toContain("2 backups");
  }, 120_000);

  test("the service agrees with a model of it on random stories", async () => {
    const makeStore = () => ({ path: join(temporaryFolder(), "topupd.db") });
    await expect(model({ seed: 1, rounds: 60, makeStore })).resolves.toContain("60 stories");
  }, 120_000);

  test.each([1, 2, 3])(
    "what is said of a month's money is what was topped up in it (seed %i)",
    async (seed) => {
      const path = join(temporaryFolder(), "topupd.db");
      const openStore: MonthOptions["openStore"] = async (options) => openSqliteStore({ ...options, path });
      await expect(month({ seed, rounds: 4, cwd: temporaryFolder(), openStore })).resolves.toMatch(
        /^4000 top-ups and [1-9]\d+ reversals/,
      );
    },
    120_000,
  );
});

describe("on PostgreSQL", () => {
  test("twenty callers on four processes with one checkoutId make one transaction and get twenty equal answers", async () => {
    const { url, made } = makeEmptyDatabase();
    await made;
    const ground = { cwd: temporaryFolder(), database: url };
    await expect(race({ ...ground, seed: 2, rounds: 25, processes: 4, callers: 20 })).resolves.toContain("25 rounds");
  }, 120_000);

  test("no acknowledged top-up is lost or made twice when processes are killed and PostgreSQL is restarted", async () => {
    const server = await startPostgres();
    onTestFinished(() => server.close());
    const ground = { cwd: temporaryFolder(), database: await createDatabase(server.url, "storm") };
    await expect(storm({ ...ground, seed: 2, rounds: 5, processes: 2, server })).resolves.toContain("5 rounds");
  }, 300_000);

  test("partners get an answer and each top-up is made once while sessions are lost at every moment, and all is well again", async () => {
    const server = await startPostgres();
    onTestFinished(() => server.close());
    const report = await lostSessions({ seed: 7305, rounds: 2, cwd: temporaryFolder(), server, lastsMs: 1_500 });
    expect(report).toContain("2 rounds");
  }, 300_000);

  test("backups under load are restored with all that was acknowledged before them", async () => {
    const ground = { cwd: temporaryFolder(), database: await makeEmpty() };
    const report = await backup({ ...ground, seed: 2, rounds: 2, createDatabase: makeEmpty });
    expect(report).toContain("2 backups");
  }, 120_000);

  test("the service agrees with a model of it on random stories", async () => {
    const makeStore = () => {
      const database = makePostgresDatabase();
      return { openStore: database.open };
    };
    await expect(model({ seed: 2, rounds: 25, makeStore })).resolves.toContain("25 stories");
  }, 120_000);

  test("what is said of a month's money is what was topped up in it", async () => {
    const { open: openStore } = makePostgresDatabase();
    await expect(month({ seed: 4, rounds: 3, cwd: temporaryFolder(), openStore })).resolves.toMatch(
      /^3000 top-ups and [1-9]\d+ reversals/,
    );
  }, 120_000);
});

/** An empty database that is gone after the test. */
async function makeEmpty(): Promise<string> {
  const { url, made } = makeEmptyDatabase();
  await made;
  return url;
}
