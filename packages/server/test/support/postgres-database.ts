import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import type { TestDatabase } from "../store-suite/database.ts";

/** A database of its own on the server of the tests, for what every store must do. */
export interface TestPostgres extends TestDatabase {
  readonly url: string;
  /** Resolves when the database exists. */
  readonly made: Promise<void>;
}

export function makePostgresDatabase(template = inject("postgresTemplate")): TestPostgres {
  const { url, made } = makeEmptyDatabase(undefined, undefined, template);
  return {
    url,
    made,
    open: async (options) => {
      await made;
      return openPostgresStore({ timeZone: undefined, currencyExponent: undefined, ...options, url, connections: 4 });
    },
    read: (query) => withClient(url, async (client) => (await client.query(query)).rows as Record<string, unknown>[]),
    // As a replica applies changes: past triggers and foreign keys.
    tamper: (sql) => withClient(url, (client) => client.query(`SET session_replication_role = replica; ${sql}`)),
  };
}

/** A database without tables, unless `template` has some. It is gone after the test. */
export function makeEmptyDatabase(
  server = inject("postgresUrl"),
  onFinished: (clean: () => Promise<void>) => void = onTestFinished,
  template = "template0",
): { readonly url: string; readonly made: Promise<void> } {
  const name = `topupd_test_${process.pid}_${Math.random().toString(36).slice(2)}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  const made = sessionsOf(server).query(
    `CREATE DATABASE ${name} TEMPLATE ${template} ENCODING 'UTF8' STRATEGY FILE_COPY`,
  );
  onFinished(async () => {
    await made.catch(() => {});
    await sessionsOf(server).query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
  return { url: url.href, made: made.then(() => undefined) };
}

const servers = new Map<string, pg.Pool>();

/** Sessions that tests share to make and drop databases. */
function sessionsOf(server: string): pg.Pool {
  const known = servers.get(server);
  if (known !== undefined) return known;
  const pool = new pg.Pool({ connectionString: server, idleTimeoutMillis: 1_000, allowExitOnIdle: true });
  // A server that stops ends sessions that nobody uses.
  pool.on("error", () => {});
  servers.set(server, pool);
  return pool;
}

/** A session of the test's own, as another process or a careless operator has. */
export async function withClient<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  // A server that ends the session fails what is asked next.
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
