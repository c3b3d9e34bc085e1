import { join } from "node:path";
import pg from "pg";
import { findPostgres } from "../../packages/server/test/support/postgres-programs.ts";
import { startPostgres } from "../../packages/server/test/support/postgres-server.ts";
import { cpuMsOfFamily } from "../proc.ts";

/** A PostgreSQL that is there for the bench alone, and gone with it, however it ends. */
export interface Cluster {
  /** To the maintenance database. */
  readonly url: string;
  readonly version: string;
  /** CPU time so far of all its processes, in ms; undefined where the machine does not tell. */
  readonly cpuMs: () => number | undefined;
  readonly close: () => Promise<void>;
}

/** What the server for tests has smaller is what PostgreSQL has by default again. Durability is never touched. */
const SETTINGS = { shared_buffers: "128MB", min_wal_size: "80MB", max_wal_size: "1GB", max_connections: "100" };

export async function startCluster(): Promise<Cluster> {
  const server = await startPostgres(SETTINGS);
  try {
    const [row] = await ask<{ version: string; postmaster: string; fsync: string; synchronous_commit: string }>(
      server.url,
      `SELECT current_setting('server_version') AS version, pg_read_file('postmaster.pid') AS postmaster,
         current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit`,
    );
    if (row === undefined || row.fsync !== "on" || row.synchronous_commit !== "on")
      throw new Error("PostgreSQL does not wait for the disk: what it is good for cannot be told");
    const postmaster = Number.parseInt(row.postmaster, 10);
    return {
      url: server.url,
      version: row.version.split(" ")[0] as string,
      cpuMs: () => cpuMsOfFamily(postmaster),
      close: () => server.close(),
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** The folders in which pgbench may be, beside the PATH. */
export async function programFolders(): Promise<string[]> {
  return [join((await findPostgres()).folder, "bin")];
}

/** Makes a database. @param template a database to copy, with which nobody is connected. @returns its URL. */
export async function createDatabase(server: string, name: string, template = "template0"): Promise<string> {
  await ask(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs one or more statements. @returns the rows of a single one. */
export async function ask<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end();
  }
}
