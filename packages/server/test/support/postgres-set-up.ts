import pg from "pg";
import type { TestProject } from "vitest/node";
import { readMigrations } from "../../src/store/migrations.ts";
import { plentyOfMemory, startPostgres } from "./postgres-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Of a superuser, to a database of the server that the tests share. */
    postgresUrl: string;
    /** The name of a database of that server with topupd's tables, without rows. */
    postgresTemplate: string;
  }
}

/** One server for the whole run, unless `TEST_POSTGRES` names one. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const setting = process.env["TEST_POSTGRES"] ?? "";
  const isGiven = /^postgres(ql)?:\/\//.test(setting);
  if (!isGiven && !["", "embedded"].includes(setting)) {
    throw new Error(`TEST_POSTGRES must be "embedded" or the URL of a server (postgres://...), not "${setting}"`);
  }
  // Temporary folders too: thousands of files of SQLite's are flushed, and none needs to outlive the machine.
  process.env["TMPDIR"] ??= plentyOfMemory();
  const server = isGiven ? undefined : await startPostgres();
  const url = server?.url ?? setting;
  const template = `topupd_template_${process.pid}`;
  await makeTemplate(url, template);
  project.provide("postgresUrl", url);
  project.provide("postgresTemplate", template);
  return async () => {
    if (server === undefined) await ask(url, `DROP DATABASE ${template}`);
    else await server.close();
  };
}

/** To copy its tables takes a fraction of the time that it takes to make them. */
async function makeTemplate(server: string, name: string): Promise<void> {
  await ask(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const record = "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)";
  for (const { number, name, checksum, sql } of readMigrations("postgres")) {
    await ask(url.href, sql);
    await ask(url.href, record, [number, name, checksum, 0]);
  }
}

async function ask(url: string, text: string, values?: readonly unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text, values as unknown[] | undefined);
  } finally {
    await client.end();
  }
}
