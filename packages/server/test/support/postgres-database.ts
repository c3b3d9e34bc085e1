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

/** Databases with topupd's tables that a test has left, without rows: making one costs ten times as much as emptying it. */
const emptied: string[] = [];

/** A database with topupd's tables, which is the test's own until it ends. @param template another form of the tables. */
export function makePostgresDatabase(template = inject("postgresTemplate")): TestPostgres {
  const isUsual = template === inject("postgresTemplate");
  const known = isUsual ? emptied.pop() : undefined;
  const { url, made } = known === undefined ? createDatabase(template) : { url: known, made: Promise.resolve() };
  let isPlain = isUsual;
  onTestFinished(async () => {
    await made.catch(() => {});
    if (isPlain && (await emptyTables(url))) emptied.push(url);
    else await dropDatabase(url);
  });
  return {
    get url() {
      // Nobody knows what the test does to it.
      isPlain = false;
      return url;
    },
    made,
    open: async (options) => {
      await made;
      if (options.migrations !== undefined) isPlain = false;
      return openPostgresStore({ timeZone: undefined, currencyExponent: undefined, ...options, url, connections: 4 });
    },
    read: (query) => withClient(url, async (client) => (await client.query(query)).rows as Record<string, unknown>[]),
    // As a replica applies changes: past triggers and foreign keys.
    tamper: (sql) => {
      if (/\b(?:alter|create|drop)\b/i.test(sql)) isPlain = false;
      return withClient(url, (client) => client.query(`SET session_replication_role = replica; ${sql}`));
    },
  };
}

/** Deletes all rows past the guards of the tables, and counts from 1 again. */
const EMPTY = `
  SET session_replication_role = replica;
  SET lock_timeout = '2s';
  DO $$ DECLARE name text; has_rows boolean; BEGIN
    FOR name IN SELECT c.oid::regclass FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
      AND relname <> 'schema_migration' LOOP
      EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s)', name) INTO has_rows;
      IF has_rows THEN EXECUTE format('DELETE FROM %s', name); END IF;
    END LOOP;
    FOR name IN SELECT c.oid::regclass FROM pg_class c WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace LOOP
      EXECUTE format('ALTER SEQUENCE %s RESTART', name);
    END LOOP;
  END $$`;

/** @returns whether the database is empty: a session that the test has left open may hold its rows. */
async function emptyTables(url: string): Promise<boolean> {
  return withClient(url, (client) => client.query(EMPTY)).then(
    () => true,
    () => false,
  );
}

/** A database without tables, unless `template` has some. It is gone after the test. */
export function makeEmptyDatabase(
  server = inject("postgresUrl"),
  onFinished: (clean: () => Promise<void>) => void = onTestFinished,
  template = "template0",
): { readonly url: string; readonly made: Promise<void> } {
  const { url, made } = createDatabase(template, server);
  onFinished(async () => {
    await made.catch(() => {});
    await dropDatabase(url, server);
  });
  return { url, made };
}

function createDatabase(
  template: string,
  server = inject("postgresUrl"),
): { readonly url: string; readonly made: Promise<void> } {
  const name = `topupd_test_${process.pid}_${Math.random().toString(36).slice(2)}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  const made = sessionsOf(server).query(
    `CREATE DATABASE ${name} TEMPLATE ${template} ENCODING 'UTF8' STRATEGY FILE_COPY`,
  );
  return { url: url.href, made: made.then(() => undefined) };
}

async function dropDatabase(url: string, server = inject("postgresUrl")): Promise<void> {
  await sessionsOf(server).query(`DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
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
