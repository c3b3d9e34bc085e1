import type { TestProject } from "vitest/node";
import { askPostgres } from "../../campaign/ask-postgres.ts";
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
export async function startForAll(project: TestProject): Promise<() => Promise<void>> {
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
    if (server !== undefined) return server.close();
    // The template, and what tests have left for the next ones.
    const made = `datname = '${template}' OR datname LIKE 'topupd\\_test\\_%'`;
    for (const { datname } of await askPostgres(url, `SELECT datname FROM pg_database WHERE ${made}`))
      await askPostgres(url, `DROP DATABASE ${String(datname)} WITH (FORCE)`);
  };
}

/** Makes tables that each test copies, in a fraction of the time that migrations take. */
async function makeTemplate(server: string, name: string): Promise<void> {
  await askPostgres(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  for (const { number, name, checksum, sql } of readMigrations("postgres")) {
    await askPostgres(url.href, sql);
    const values = `(${number}, '${name}', '${checksum}', 0)`;
    await askPostgres(url.href, `INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ${values}`);
  }
}
