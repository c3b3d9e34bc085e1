import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Instant } from "../../domain/calendar.ts";
import { StoreRefused } from "../errors.ts";
import type { Database } from "./database.ts";

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/**
 * Brings the schema up to date in one transaction. Safe to run from several processes at once.
 * @throws StoreRefused where the file is another program's, or was migrated by a newer topupd.
 */
export function migrate(database: Database, now: Instant): void {
  database.writeAtOpening(() => {
    const applied = readApplied(database);
    const migrations = readMigrations();
    for (const [index, migration] of migrations.entries()) {
      const former = applied[index];
      if (former === undefined) apply(database, migration, now);
      else if (former !== migration.checksum) {
        throw new StoreRefused(`migration ${migration.name} of the database is not the one of this topupd`);
      }
    }
    if (applied.length > migrations.length) {
      throw new StoreRefused("the database was made by a newer topupd: use that, or restore a backup");
    }
  });
}

/** The checksums of the migrations that the database has had, in order. */
function readApplied(database: Database): string[] {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  if (tables.length === 0) {
    database.exec(`CREATE TABLE schema_migration (
      number     INTEGER PRIMARY KEY,
      name       TEXT    NOT NULL,
      checksum   TEXT    NOT NULL,
      applied_at INTEGER NOT NULL
    ) STRICT`);
    return [];
  }
  const rows = database.prepare("SELECT checksum FROM schema_migration ORDER BY number").all() as {
    checksum: string;
  }[];
  return rows.map(({ checksum }) => checksum);
}

function apply(database: Database, { number, name, sql, checksum }: Migration, now: Instant): void {
  database.exec(sql);
  database
    .prepare("INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)")
    .run(number, name, checksum, now);
}

function readMigrations(): Migration[] {
  const folder = new URL("./migrations/", import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return names.sort().map((name, index) => {
    const sql = readFileSync(new URL(name, folder), "utf8");
    return { number: index + 1, name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
  });
}
