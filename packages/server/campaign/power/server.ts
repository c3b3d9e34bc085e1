import { randomBytes } from "node:crypto";
import pg from "pg";
import { StoreRefused } from "../../src/store/errors.ts";
import { endClient, openClient } from "../../src/store/postgres/database.ts";
import { askPostgres } from "../ask-postgres.ts";
import { LOSS } from "../faults/failover.ts";
import { postgresFaults } from "../faults/postgres.ts";
import { openDesk } from "../partner.ts";
import type { Ground } from "../processes.ts";
import { timesOf } from "./power.ts";

export interface ServerOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly processes: number;
  readonly cwd: string;
  /** URL of any database of the server, with the role of topupd. */
  readonly url: string;
}

const COMMITS = 500;

/**
 * Examines a provider's own PostgreSQL: what it promises, how long its commits take, and whether faults that any client can
 * make lose a top-up. Everything happens in a database of its own, which is dropped.
 * @returns one page. @throws Error with that page if something is lost or unsafe.
 */
export async function powerOfServer(options: ServerOptions): Promise<string> {
  const { host, port } = new pg.Client(options.url);
  const server = await readServer(options.url);
  const { settings, standbys, role, name, version } = server;
  const unsafe = unsafeIn(server);
  const tried = isStuck(server) ? NOT_TRIED : await withDatabase(options, tryServer);
  unsafe.push(...tried.unsafe);
  const page = [
    `PostgreSQL ${version} at ${host}:${port}, as the role ${role} finds it in the database ${name}`,
    tried.outcome,
    ...unsafe.map((what) => `UNSAFE: ${what}`),
    "",
    `Settings: ${Object.entries(settings)
      .map(([key, value]) => `${key}=${value || "''"}`)
      .join(", ")}.`,
    `Standbys: ${standbys.map((state) => state ?? "not visible to this role").join(", ") || "none"}.`,
    ...worthKnowing(server),
    ...tried.times,
    "",
    "The faults are those that any client can make. They cannot show what a power cut of that server loses: to try that,",
    "pull its plug under load.",
  ].join("\n");
  if (unsafe.length > 0 || tried.isFall) throw new Error(page);
  return page;
}

interface Server {
  readonly version: string;
  readonly role: string;
  readonly name: string;
  /** Settings of a new session, before topupd changes any. */
  readonly settings: Readonly<Record<string, string>>;
  /** The states of its standbys: sync, quorum, potential, async; null if the role may not see it. */
  readonly standbys: readonly (string | null)[];
}

async function readServer(url: string): Promise<Server> {
  const [row] = await askPostgres(
    url,
    `SELECT current_setting('server_version') AS version, current_user AS role, current_database() AS name,
      (SELECT json_object_agg(name, setting ORDER BY name) FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit',
        'full_page_writes', 'wal_sync_method', 'data_checksums', 'synchronous_standby_names')) AS settings,
      (SELECT coalesce(json_agg(sync_state), '[]') FROM pg_stat_replication
        WHERE state IS DISTINCT FROM 'backup') AS standbys`,
  );
  return row as unknown as Server;
}

/** Whether each commit waits for a standby that is not there. */
function isStuck({ settings, standbys }: Server): boolean {
  const { synchronous_commit: commit, synchronous_standby_names: names } = settings;
  const waited = [null, "sync", "quorum"];
  return names !== "" && commit !== "local" && !standbys.some((state) => waited.includes(state));
}

/** Settings that topupd neither refuses at its start nor finds by `topupd check`. */
function unsafeIn(server: Server): string[] {
  const { synchronous_commit: commit, synchronous_standby_names: names } = server.settings;
  const found: string[] = [];
  if (names !== "" && commit === "local")
    found.push(
      "synchronous_commit=local: no commit waits for a standby, so acknowledged top-ups can be lost with this machine.",
    );
  if (names !== "" && commit === "remote_write")
    found.push(
      "synchronous_commit=remote_write: a standby answers before its disk has the commit, so acknowledged top-ups can be lost if both machines stop.",
    );
  if (isStuck(server))
    found.push("synchronous_standby_names: no such standby follows, so every commit waits, and topupd with it.");
  return found;
}

function worthKnowing({ settings, standbys, role }: Server): string[] {
  const known: string[] = [];
  if (settings["synchronous_commit"] === "off")
    known.push(
      "synchronous_commit=off: topupd switches it on in its own sessions. What other programs commit can be lost if the server stops.",
    );
  if (settings["synchronous_standby_names"] === "")
    known.push(
      standbys.length === 0
        ? "Without a standby, the loss of this server's disk loses all top-ups since the last backup."
        : "The standbys are asynchronous: a failover to one can lose the last acknowledged top-ups.",
    );
  if (standbys.includes(null)) known.push(`To see the state of its standbys, GRANT pg_monitor TO ${role}.`);
  if (settings["data_checksums"] === "off")
    known.push("With data_checksums=off, PostgreSQL does not notice what its disk has altered.");
  return known;
}

interface Tried {
  readonly outcome: string;
  readonly isFall: boolean;
  /** Objections of topupd to the server. */
  readonly unsafe: readonly string[];
  readonly times: readonly string[];
}

const NOT_TRIED: Tried = { outcome: "No load was run.", isFall: false, unsafe: [], times: [] };

async function withDatabase<Result>(
  { url, ...size }: ServerOptions,
  work: (size: Omit<ServerOptions, "url"> & { readonly database: string }) => Promise<Result>,
): Promise<Result> {
  const name = `topupd_try_${randomBytes(6).toString("hex")}`;
  const database = new URL(url);
  database.pathname = `/${name}`;
  await askPostgres(url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`).catch((cause: Error) => {
    throw new Error(`No database can be made to try this server: ${cause.message}. The role needs CREATEDB.`);
  });
  const drop = () =>
    askPostgres(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).catch((cause: Error) => {
      process.stdout.write(`Drop the database ${name} by hand: ${cause.message}\n`);
    });
  const interrupt = () => void drop().then(() => process.exit(130));
  process.once("SIGINT", interrupt);
  try {
    return await work({ ...size, database: database.href });
  } finally {
    process.off("SIGINT", interrupt);
    await drop();
  }
}

async function tryServer(size: Omit<ServerOptions, "url"> & { readonly database: string }): Promise<Tried> {
  const objection = await objectionOf(size);
  if (objection !== undefined) return { ...NOT_TRIED, unsafe: [objection] };
  const times = [timesOf(`${COMMITS} commits of one row`, await timeCommits(size.database))];
  try {
    return { outcome: `This server lost nothing in ${await postgresFaults(size)}.`, isFall: false, unsafe: [], times };
  } catch (error) {
    const { message } = error as Error;
    const what = LOSS.test(message) ? "lost what was acknowledged" : "did not pass";
    return { outcome: `This server ${what}: ${message}`, isFall: true, unsafe: [], times };
  }
}

/** @returns why topupd refuses the server at its start, or what `topupd check` finds wrong with it. */
async function objectionOf(ground: Ground): Promise<string | undefined> {
  try {
    const { store, close } = await openDesk(ground);
    try {
      for await (const { kind, what } of store.check()) if (kind === "wrong") return what;
    } finally {
      await close();
    }
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error;
    return error.message;
  }
  return undefined;
}

/** @returns microseconds of each commit of a session of topupd, sorted. */
async function timeCommits(database: string): Promise<number[]> {
  const client = await openClient(database, "working");
  try {
    await client.query("CREATE TABLE commit_try (number integer)");
    const micros: number[] = [];
    for (let number = 0; number < COMMITS; number += 1) {
      const began = performance.now();
      await client.query("INSERT INTO commit_try VALUES ($1)", [number]);
      micros.push((performance.now() - began) * 1_000);
    }
    await client.query("DROP TABLE commit_try");
    return micros.sort((a, b) => a - b);
  } finally {
    await endClient(client);
  }
}
