import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { clocks } from "../../campaign/clocks.ts";
import { deliver } from "../../campaign/deliver.ts";
import { doors } from "../../campaign/doors.ts";
import { KILL, restartOf } from "../../campaign/faults/blows.ts";
import { flood } from "../../campaign/flood.ts";
import { floodPartners } from "../../campaign/flood-partners.ts";
import { kill } from "../../campaign/kill.ts";
import { lossy } from "../../campaign/lossy.ts";
import { midnight } from "../../campaign/midnight.ts";
import { model } from "../../campaign/model.ts";
import { type MonthOptions, month } from "../../campaign/month.ts";
import { practice } from "../../campaign/practice.ts";
import { prepaid } from "../../campaign/prepaid.ts";
import { race } from "../../campaign/race.ts";
import { statement } from "../../campaign/statement.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { makeEmptyDatabase, makePostgresDatabase } from "../support/postgres-database.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/service.ts";
import { rawConnection } from "../support/sqlite-database.ts";

/*
 * Short slices of the campaigns, here and in systems.test.ts, which runs at the same time: the same code, the same promises. The long forms are
 * `npm run campaign -- NAME --store sqlite|postgres --seed N --rounds N`.
 */

const PREPAID = { seed: 2, rounds: 1, topUps: 30, covered: 12 };

describe("on SQLite", () => {
  test("twenty callers with one checkoutId make one transaction and get twenty equal answers, though processes are killed", async () => {
    const campaign = race({ seed: 1, rounds: 4, cwd: temporaryFolder(), callers: 20, processes: 1, workers: 2 });
    await expect(campaign).resolves.toMatch(/[1-9]\d* kills/);
  });

  test("no acknowledged top-up is lost or made twice when workers and the settler are killed under load", async () => {
    const campaign = kill({ seed: 4, rounds: 2, workers: 2, cwd: temporaryFolder() });
    await expect(campaign).resolves.toMatch(/^2 rounds, [2-4] faults \([2-4] kills/);
  }, 300_000);

  test("requests of every form get the same answers from both doors of the partners' port", async () => {
    await expect(doors({ seed: 1, rounds: 800 })).resolves.toMatch(/[1-9]\d* by the fast door/);
  });

  test.runIf(process.platform === "linux")(
    "a flood of the console's and the metrics port takes little memory, and staff and scrapers are answered",
    async () => {
      await expect(flood({ rounds: 10, cwd: temporaryFolder() })).resolves.toMatch(/^10 rounds/);
    },
  );

  test.runIf(process.platform === "linux")(
    "a flood of the partners' port takes bounded memory, is closed by its first 401, and honest calls are answered",
    async () => {
      const campaign = floodPartners({ rounds: 10, sockets: 60, cwd: temporaryFolder() });
      await expect(campaign).resolves.toMatch(/^10 rounds/);
    },
  );

  test("a partner's client brings every top-up through a lossy network to an end that the database agrees with", async () => {
    const report = await lossy({ seed: 1, rounds: 25, cwd: temporaryFolder() });
    expect(report).toContain("25 top-ups");
    // Not `refused`: on a busy machine each refusal may come later than its caller waits, and end as `never_topped_up`.
    for (const outcome of ["topped_up", "never_topped_up", "undecided"])
      expect(report).toMatch(new RegExp(`^ +${outcome}: [1-9]`, "m"));
  });

  test("every event arrives, in order for its connection, at receivers that fail, hang, close and come back", async () => {
    const campaign = deliver({ seed: 1, events: 30, kills: 0, workers: 2, cwd: temporaryFolder() });
    await expect(campaign).resolves.toMatch(/^(?:[3-9]\d|1\d\d) events, 0 kills, \d+ times closed: [1-9]\d* and [1-9]/);
  }, 300_000);

  test("the service agrees with a model of it on random stories", async () => {
    const makeStore = () => ({ path: join(temporaryFolder(), "topupd.db") });
    await expect(model({ seed: 1, rounds: 3, makeStore })).resolves.toContain("3 stories");
  });

  test("what is said of a month's money is what was topped up in it", async () => {
    const cwd = temporaryFolder();
    const path = join(cwd, "topupd.db");
    const openStore: MonthOptions["openStore"] = async (options) => openSqliteStore({ ...options, path });
    await expect(month({ seed: 1, rounds: 1, cwd, openStore })).resolves.toMatch(
      /^1000 top-ups and [1-9]\d+ reversals/,
    );
  });

  test("all books agree, and no limit a day is doubled, however the clock is set around midnight", async () => {
    const cwd = temporaryFolder();
    const path = join(cwd, "topupd.db");
    const openStore: MonthOptions["openStore"] = async (options) => openSqliteStore({ ...options, path });
    await expect(midnight({ seed: 1, rounds: 2, cwd, openStore })).resolves.toMatch(/[1-9]\d* refused by the limit/);
  });

  test("that is found if the sums of a day are closed while the clock is ahead", async () => {
    const cwd = temporaryFolder();
    const path = join(cwd, "topupd.db");
    const openStore: MonthOptions["openStore"] = async (options) => openSqliteStore({ ...options, path });
    const plant = async () => {
      const database = rawConnection(path);
      database.exec(`CREATE TRIGGER closed BEFORE INSERT ON sales_day WHEN NEW.day < (SELECT max(day) FROM sales_day)
        BEGIN SELECT RAISE(IGNORE); END`);
      database.close();
    };
    await expect(midnight({ seed: 1, rounds: 3, cwd, openStore, plant })).rejects.toThrow(
      "sums of a day that are not those of its top-ups",
    );
  });

  test("after random practice with killed workers, the reports agree with ledger, txn-status and settlement", async () => {
    const campaign = practice({ seed: 1, rounds: 15, cwd: temporaryFolder() });
    await expect(campaign).resolves.toMatch(/^15 sequences, [1-9]\d* kills: .* [1-9]\d* failed/);
  });

  test("exactly the top-ups that its balance covers succeed for a prepaid partner while processes are killed", async () => {
    const campaign = prepaid({ ...PREPAID, cwd: temporaryFolder(), processes: 1, workers: 2 });
    await expect(campaign).resolves.toMatch(/[1-9]\d* kills: 12 each succeeded/);
  });

  test("the statement of a month equals what its exported transactions add up to", async () => {
    await expect(statement({ events: 1_000, cwd: temporaryFolder() })).resolves.toMatch(/^900 top-ups and [1-9]/);
  });

  test("every top-up is in one settlement, however the clock is set while it waits to be recorded", async () => {
    const campaign = clocks({ seed: 1, rounds: 6, cwd: temporaryFolder() });
    await expect(campaign).resolves.toMatch(/back [1-9]\d* times and forth [1-9]\d* times: each of [1-9]\d+ top-ups/);
  });
});

describe("on PostgreSQL", () => {
  test("twenty callers on three processes with one checkoutId make one transaction and get twenty equal answers", async () => {
    const { url, made } = makeEmptyDatabase();
    await made;
    const ground = { cwd: temporaryFolder(), database: url };
    await expect(race({ ...ground, seed: 2, rounds: 2, processes: 3, callers: 20 })).resolves.toContain("2 rounds");
  });

  test("no acknowledged top-up is lost or made twice when processes are killed and PostgreSQL is restarted", async () => {
    const server = await startPostgres();
    onTestFinished(() => server.close());
    const { url, made } = makeEmptyDatabase(server.url, () => {});
    await made;
    const campaign = kill({
      cwd: temporaryFolder(),
      database: url,
      seed: 3,
      rounds: 2,
      processes: 2,
      blows: [KILL, restartOf(server)],
    });
    await expect(campaign).resolves.toMatch(/^2 rounds, \d faults \([1-3] kills, [1-3] restarts/);
  }, 300_000);

  test("the service agrees with a model of it on random stories", async () => {
    const makeStore = () => ({ openStore: makePostgresDatabase().open });
    await expect(model({ seed: 2, rounds: 2, makeStore })).resolves.toContain("2 stories");
  });

  test("what is said of a month's money is what was topped up in it", async () => {
    const { url: database, open: openStore } = makePostgresDatabase();
    await expect(month({ seed: 4, rounds: 1, cwd: temporaryFolder(), database, openStore })).resolves.toMatch(
      /^1000 top-ups and [1-9]\d+ reversals/,
    );
  });

  test("all books agree, and no limit a day is doubled, however the clock is set around midnight", async () => {
    const { url, made } = makeEmptyDatabase();
    await made;
    const openStore: MonthOptions["openStore"] = (options) => openPostgresStore({ ...options, url, connections: 4 });
    await expect(midnight({ seed: 2, rounds: 2, cwd: temporaryFolder(), database: url, openStore })).resolves.toMatch(
      /[1-9]\d* refused by the limit/,
    );
  });

  test("exactly the top-ups that its balance covers succeed for a prepaid partner while services are killed", async () => {
    const { url, made } = makeEmptyDatabase();
    await made;
    const campaign = prepaid({ ...PREPAID, cwd: temporaryFolder(), database: url, processes: 3, workers: 1 });
    await expect(campaign).resolves.toMatch(/[1-9]\d* kills: 12 each succeeded/);
  });

  test("every top-up is in one settlement, however the clock is set while it waits to be recorded", async () => {
    const { url, made } = makeEmptyDatabase();
    await made;
    const campaign = clocks({ seed: 2, rounds: 4, cwd: temporaryFolder(), database: url });
    await expect(campaign).resolves.toMatch(/back [1-9]\d* times and forth [1-9]\d* times: each of [1-9]\d+ top-ups/);
  });
});
