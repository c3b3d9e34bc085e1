import { copyFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { expectBook, rowsIn, Told } from "../book.ts";
import { agree, type MonthOptions, month } from "../month.ts";
import { expectTopupd, freePort, type Ground, killTopupd, startServing } from "../processes.ts";
import { Choices } from "../random.ts";

export interface CommandsOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Thousands of top-ups in the database. */
  readonly thousands?: number;
  /** Part of the names of commands to try; undefined: all. */
  readonly only?: string | undefined;
  readonly cwd: string;
  /** A provider's database that is made once, and the way to open it. */
  readonly database: string;
  readonly openStore: MonthOptions["openStore"];
  /** @returns the address of a copy of it, or of a new, empty database. */
  readonly copy: () => Promise<string>;
  readonly empty: () => Promise<string>;
}

/** Long ago, so that `prune` has something to delete. */
const PAST = { zone: "Asia/Kathmandu", month: "2024-11", days: 30 } as const;
/** Databases of SQLite in a folder. */
export function sqliteGround(cwd: string): Pick<CommandsOptions, "cwd" | "database" | "openStore" | "copy" | "empty"> {
  const path = join(cwd, "provider.db");
  let made = 0;
  const named = () => join(cwd, `${++made}.db`);
  const copy = async () => {
    const to = named();
    for (const end of ["", "-wal"]) if (existsSync(`${path}${end}`)) copyFileSync(`${path}${end}`, `${to}${end}`);
    return `sqlite:${to}`;
  };
  const openStore: CommandsOptions["openStore"] = async (options) => openSqliteStore({ ...options, path });
  return { cwd, database: `sqlite:${path}`, openStore, copy, empty: async () => `sqlite:${named()}` };
}

/** How often one pruning is killed. */
const PRUNINGS = 3;
const DAY_MS = 86_400_000;
/** Top-ups before it are pruned. */
const MID_MONTH = Date.parse("2024-11-15T12:00:00Z");
const RECENT = "SELECT * FROM top_up WHERE txn_date >= '2024-11-17'";
/** A process takes a bulk change over after 15 seconds. */
const GOES_ON_WITHIN_MS = 60_000;

interface Trial extends Ground {
  readonly database: string;
  readonly choices: Choices;
  readonly options: CommandsOptions;
  /** Runs a command, and kills it at any time. @returns whether it was killed. */
  readonly struck: (words: readonly string[]) => Promise<boolean>;
}

/**
 * Backups, restores, copies, prunings and bulk changes are killed in the middle: what they make is whole or not there, and
 * the same command then completes it. @throws Error that names the command with a violation.
 */
export async function commands(options: CommandsOptions): Promise<string> {
  const { seed, rounds, thousands = 3, only, cwd, database, openStore } = options;
  const choices = new Choices(seed);
  await month({ seed, rounds: thousands, of: PAST, cwd, database, openStore });
  await furnish({ cwd, database });
  const counts = new Map<string, number>();
  /** How long a start takes, and each command: a kill comes after the start and before the end. */
  const startMs = await timed(() => expectTopupd(["--version"], { cwd, database }));
  const usualMs = new Map<string, number>();
  // Nothing is killed in the first round.
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, tried] of Object.entries(COMMANDS)) {
      if (only !== undefined && !name.includes(only)) continue;
      const ground = { cwd, database: await options.copy() };
      const struck = async (words: readonly string[]) => {
        if (round === 0) {
          usualMs.set(name, await timed(() => expectTopupd(words, ground)));
          return false;
        }
        const lastsMs = Math.max((usualMs.get(name) ?? 0) - startMs, 1);
        const code = await killTopupd(words, ground, startMs + choices.below(lastsMs));
        if (code === undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
        return code === undefined;
      };
      await tried({ ...ground, choices, options, struck }).catch((cause: Error) => {
        throw new Error(`round ${round}, ${name}: ${cause.message}`, { cause });
      });
    }
  const kills = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (kills === 0) throw new Error("no command was killed: the campaign has shown nothing");
  const told = [...counts].map(([name, count]) => `${count} of ${name}`).join(", ");
  return `${rounds} rounds, ${kills} kills of commands (${told}): each left all or nothing, and was completed`;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = Date.now();
  await work();
  return Date.now() - began;
}

/** Makes what a month of top-ups has not. */
async function furnish(ground: Ground): Promise<void> {
  for (const words of [
    ["partner", "add", "Kiosk"],
    ["partner", "account", "Kiosk", "--credit-limit", "500"],
    ["partner", "deposit", "Kiosk", "1000", "--reference", "D1"],
    ["token", "issue", "--partner", "Kiosk"],
  ])
    await expectTopupd(words, ground);
}

const COMMANDS: Readonly<Record<string, (trial: Trial) => Promise<void>>> = {
  backup: async ({ struck, options, ...ground }) => {
    const file = join(ground.cwd, "killed.backup");
    rmSync(file, { force: true });
    await struck(["backup", file]);
    if (existsSync(file)) await expectTopupd(["restore", "--dry-run", file], ground);
    await expectTopupd(["backup", "--replace", file], ground).catch(() => expectTopupd(["backup", file], ground));
    const restored = await options.empty();
    await expectTopupd(["restore", file, "--database", restored], ground);
    await expectSame(ground, restored);
  },
  restore: async ({ struck, options, ...ground }) => {
    const file = join(ground.cwd, "whole.backup");
    rmSync(file, { force: true });
    await expectTopupd(["backup", file], ground);
    const restored = await options.empty();
    const words = ["restore", file, "--database", restored];
    if (await struck(words)) await completed(words, ground);
    await expectSame(ground, restored);
  },
  copy: async ({ struck, options, ...ground }) => {
    const copied = await options.empty();
    const words = ["copy", "--from", ground.database, "--to", copied];
    if (await struck(words)) await completed(words, ground);
    await expectSame(ground, copied);
  },
  prune: async ({ struck, ...ground }) => {
    const words = ["prune", "--older-than", `${Math.floor((Date.now() - MID_MONTH) / DAY_MS)}d`, "--reason", "books"];
    const kept = async () => {
      const [sums, recent] = [
        await rowsIn(ground.database, "SELECT * FROM sales_day"),
        await rowsIn(ground.database, RECENT),
      ];
      return [...sums, ...recent].map((row) => JSON.stringify(row)).sort();
    };
    const topUps = async () => (await rowsIn<object>(ground.database, "SELECT txn_id FROM top_up")).length;
    const before = [await kept(), await topUps()] as const;
    for (let kill = 0; kill < PRUNINGS && (await struck(words)); kill += 1) await expectBook(ground, new Told());
    await expectTopupd(words, ground);
    agree("what a prune keeps", await kept(), before[0]);
    if ((await topUps()) >= before[1]) throw new Error("nothing was pruned");
    await expectBook(ground, new Told());
  },
  "bulk change": async ({ struck, choices, ...ground }) => {
    const list = join(ground.cwd, "list.txt");
    writeFileSync(list, Array.from({ length: 2_000 }, (_, index) => `c${index}\n`).join(""));
    const plan = ["--running-at", "2024-11-20", "--days", "2", "--reason", "outage", "--json"];
    const { id, count } = JSON.parse(await expectTopupd(["bulk", "preview", "goodwill", list, ...plan], ground));
    await struck(["bulk", "start", String(id)]);
    const state = async () => JSON.parse(await expectTopupd(["bulk", "show", String(id), "--json"], ground)).state;
    if ((await state()) === "checked") await expectTopupd(["bulk", "start", String(id)], ground);
    // The console's process continues what others have left.
    const env = { TOPUPD_CONSOLE_PORT: String(await freePort()), TOPUPD_CONSOLE_HOST: "127.0.0.1" };
    const withConsole = { ...ground, env };
    const run = async () => {
      const sql = `SELECT state, done FROM bulk_run WHERE id = ${id}`;
      return (await rowsIn<{ readonly state: string; readonly done: number }>(ground.database, sql))[0];
    };
    const served = async (signal: "SIGKILL" | "SIGTERM", until: (done: number) => boolean) => {
      const service = await startServing(withConsole);
      try {
        for (let waited = 0; ; waited += 50) {
          const { state, done } = { ...(await run()) };
          if (state === "done" || until(Number(done))) break;
          if (waited >= GOES_ON_WITHIN_MS) throw new Error(`the bulk change is ${state}`);
          await sleep(50);
        }
        await sleep(choices.below(50));
      } finally {
        await service.end(signal);
      }
    };
    const { done = 0 } = { ...(await run()) };
    // It is killed when it has gone on.
    await served("SIGKILL", (now) => now > Number(done));
    await served("SIGTERM", () => false);
    const given = await rowsIn<{ readonly times: number }>(
      ground.database,
      "SELECT count(*) AS times FROM ledger_entry WHERE kind = 'goodwill' GROUP BY cuid, service, req_id",
    );
    if (count === 0 || given.length !== count || given.some(({ times }) => Number(times) !== 1))
      throw new Error(`${given.length} of ${count} connections have the goodwill, some of them twice perhaps`);
    await expectBook(ground, new Told());
  },
};

/** Runs a killed command again: it must succeed, or say that its work was done. */
async function completed(words: readonly string[], ground: Ground): Promise<void> {
  await expectTopupd(words, ground).catch((error: Error) => {
    if (!error.message.includes("is not empty")) throw error;
  });
}

const OF_SQLITE = "SELECT name FROM sqlite_schema WHERE type = 'table'";
const OF_POSTGRES = "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()";
/** Notes of the commands themselves, and of the migrations. */
const NOT_COPIED = ["backup_taken", "check_passed", "schema_migration"];
/** Row ids of SQLite differ. */
const ROW_IDS = ["id", "previous", "last_entry"];

/** @throws Error unless a database holds every row that the trial's does, and the book finds nothing in it. */
async function expectSame(ground: Ground & { readonly database: string }, other: string): Promise<void> {
  const tables = await rowsIn<{ readonly name: string }>(
    ground.database,
    ground.database.startsWith("sqlite:") ? OF_SQLITE : OF_POSTGRES,
  );
  for (const { name } of tables) {
    if (NOT_COPIED.includes(name)) continue;
    const hasRowIds = name === "ledger_entry" || name === "subscription";
    const textOf = (row: Readonly<Record<string, unknown>>) =>
      JSON.stringify(Object.entries(row).filter(([column]) => !hasRowIds || !ROW_IDS.includes(column)));
    const [one, two] = await Promise.all(
      [ground.database, other].map(async (database) =>
        (await rowsIn<Record<string, unknown>>(database, `SELECT * FROM ${name}`)).map(textOf).sort(),
      ),
    );
    agree(`the rows of ${name}`, two ?? [], one ?? []);
  }
  await expectBook({ ...ground, database: other }, new Told());
}
