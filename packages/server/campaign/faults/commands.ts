import { copyFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { expectBook, rowsIn, Told } from "../book.ts";
import { type MonthOptions, month } from "../month.ts";
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
  const counts = new Map<string, number>();
  // The commands take about as long as a check: later kills would come too late.
  const began = Date.now();
  await expectTopupd(["check"], { cwd, database });
  const usualMs = Date.now() - began;
  for (let round = 0; round < rounds; round += 1)
    for (const [name, tried] of Object.entries(COMMANDS)) {
      if (only !== undefined && !name.includes(only)) continue;
      const ground = { cwd, database: await options.copy() };
      const struck = async (words: readonly string[]) => {
        const code = await killTopupd(words, ground, choices.below(usualMs));
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
    const words = ["prune", "--older-than", "400d", "--reason", "books"];
    const [before] = await rowsIn<{ readonly count: number }>(ground.database, "SELECT count(*) AS count FROM top_up");
    for (let kill = 0; kill < PRUNINGS && (await struck(words)); kill += 1) await expectBook(ground, new Told());
    await expectTopupd(words, ground);
    const [after] = await rowsIn<{ readonly count: number }>(ground.database, "SELECT count(*) AS count FROM top_up");
    if (!(Number(after?.count) < Number(before?.count))) throw new Error("nothing was pruned");
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
    for (let kill = 0; kill < 2; kill += 1) {
      const service = await startServing(withConsole);
      await sleep(choices.below(1_500));
      await service.end("SIGKILL");
    }
    const service = await startServing(withConsole);
    try {
      for (let waited = 0; (await state()) !== "done"; waited += 1) {
        if (waited === 120) throw new Error(`the bulk change is ${await state()}`);
        await sleep(250);
      }
    } finally {
      await service.end("SIGTERM");
    }
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

const COUNTS = ["top_up", "reversal", "ledger_entry", "subscription", "event", "audit_entry", "customer"];

/** @throws Error unless a database holds what the trial's does, and the book finds nothing in it. */
async function expectSame(ground: Ground & { readonly database: string }, other: string): Promise<void> {
  for (const table of COUNTS) {
    const sql = `SELECT count(*) AS count FROM ${table}`;
    const [[one], [two]] = [await rowsIn<object>(ground.database, sql), await rowsIn<object>(other, sql)];
    if (JSON.stringify(one) !== JSON.stringify(two)) throw new Error(`${table}: ${JSON.stringify([one, two])}`);
  }
  await expectBook({ ...ground, database: other }, new Told());
}
