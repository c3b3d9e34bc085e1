import { join } from "node:path";
import pg from "pg";
import { findPostgres } from "../../packages/server/test/support/postgres-programs.ts";
import { diskFor, startPostgres } from "../../packages/server/test/support/postgres-server.ts";
import { cpuMsOfFamily } from "../proc.ts";
import { findProgram } from "../programs.ts";

/** A PostgreSQL for the bench alone, which ends with it. */
export interface Cluster {
  /** The maintenance database's URL. */
  readonly url: string;
  readonly version: string;
  /** CPU time so far of all its processes, in ms; undefined where the machine does not tell. */
  readonly cpuMs: () => number | undefined;
  readonly close: () => Promise<void>;
}

/** PostgreSQL's defaults where the server for tests has less. */
const SETTINGS = { shared_buffers: "128MB", min_wal_size: "80MB", max_wal_size: "1GB" };

/** Starts a cluster on a disk, with PostgreSQL's own durability. */
export async function startCluster(): Promise<Cluster> {
  const server = await startPostgres(SETTINGS, diskFor);
  const [row] = await ask<{ version: string; postmaster: string }>(
    server.url,
    "SELECT current_setting('server_version') AS version, pg_read_file('postmaster.pid') AS postmaster",
  );
  const { version = "?", postmaster = "" } = row ?? {};
  const pid = Number.parseInt(postmaster, 10);
  return {
    url: server.url,
    version: version.split(" ")[0] as string,
    cpuMs: () => cpuMsOfFamily(pid),
    close: () => server.close(),
  };
}

/** The path of pgbench. @throws Error if it is not installed. */
export async function pgbenchProgram(): Promise<string> {
  const program = findProgram("pgbench", [join((await findPostgres()).folder, "bin")]);
  if (program !== undefined) return program;
  throw new Error("found no pgbench: install PostgreSQL and what it calls contrib, or measure with --store sqlite");
}

/** Makes an empty database. @returns its URL. */
export async function createDatabase({ url }: Cluster, name: string): Promise<string> {
  await ask(url, `CREATE DATABASE ${name} TEMPLATE template0`);
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

/** Runs one statement. */
export async function ask<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}
