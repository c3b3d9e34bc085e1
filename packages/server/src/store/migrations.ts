import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Instant } from "../domain/wall-time.ts";
import { MADE_BEFORE_RELEASE, StoreRefused } from "./errors.ts";
import type { MigrationState } from "./store.ts";

/** One numbered file of SQL. Never edit a released file: every database stores the checksums of its migrations. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** Whether the version before can serve the database meanwhile and afterwards. The end of the name says so. */
  readonly isAdditive: boolean;
}

export interface AppliedMigration {
  name: string;
  checksum: string;
  applied_at: Instant;
}

type EngineName = "sqlite" | "postgres";

const MIGRATIONS = new URL("./migrations/", import.meta.url);
/** The database stores it with the name, where sessions of an older process read it. */
export const ADDITIVE = ".additive.sql";

/** The place of migrations. */
export interface Migrating {
  /** The folder of the migrations, which ends in a slash. Only tests have another. */
  readonly migrations?: URL | undefined;
}

export function readMigrations(engine: EngineName, { migrations = MIGRATIONS }: Migrating = {}): Migration[] {
  const names = readdirSync(migrations).sort();
  return names.map((name, index) => {
    const text = readFileSync(new URL(name, migrations), "utf8");
    const checksum = createHash("sha256").update(text).digest("hex");
    return { number: index + 1, name, sql: sqlFor(engine, text), checksum, isAdditive: name.endsWith(ADDITIVE) };
  });
}

/**
 * The SQL of a migration for one engine. The file uses SQLite's types. Lines from `--- sqlite` or `--- postgres` up to
 * `--- both` are for that engine only. PostgreSQL must compare texts byte by byte, like SQLite.
 */
function sqlFor(engine: EngineName, text: string): string {
  let section = "both";
  const lines = text.split("\n").filter((line) => {
    if (!line.startsWith("--- ")) return section === "both" || section === engine;
    section = line.slice("--- ".length);
    return false;
  });
  const sql = lines.join("\n");
  if (engine === "sqlite") return sql;
  return sql
    .replace(/\) STRICT(, WITHOUT ROWID)?;/g, ");")
    .replace(/\bTEXT\b/g, 'text COLLATE "C"')
    .replace(/\bINTEGER\b/g, "bigint")
    .replace(/\bBLOB\b/g, "bytea");
}

interface Pending extends Migrating {
  /** Whether pending migrations may be applied. */
  readonly mayApply: boolean;
  /** The copy that was made before the migration of this number; undefined if there is none. */
  readonly findCopy?: (number: number) => string | undefined;
}

/**
 * The pending migrations of a database.
 * @throws StoreRefused if some are pending and may not be applied, or the database has an altered or unknown migration.
 */
export function pendingMigrations(
  engine: EngineName,
  applied: readonly AppliedMigration[],
  { mayApply, findCopy, ...migrating }: Pending,
): Migration[] {
  const states = migrationStates(engine, applied, migrating);
  if (states.some(({ state }) => state === "altered")) throw new StoreRefused(`the database ${MADE_BEFORE_RELEASE}`);
  const unknown = states.findIndex(({ state }) => state === "unknown");
  if (unknown >= 0) {
    const copy = findCopy?.(unknown + 1) ?? "a backup made before the upgrade";
    throw new StoreRefused(`the database was made by a newer topupd: use that, or restore ${copy}`);
  }
  const pending = readMigrations(engine, migrating).slice(applied.length);
  if (pending.length === 0 || mayApply) return pending;
  throw new StoreRefused(
    applied.length === 0
      ? "the database is empty: topupd migrate, or topupd serve, makes its tables"
      : "the database is of an older topupd: topupd migrate, or topupd serve at its start, brings it up to date",
  );
}

/** Applied and pending migrations, in order. */
export function migrationStates(
  engine: EngineName,
  applied: readonly AppliedMigration[],
  migrating: Migrating = {},
): MigrationState[] {
  const migrations = readMigrations(engine, migrating);
  const had = applied.map(({ name, checksum, applied_at: appliedAt }, index): MigrationState => {
    const known = migrations[index];
    if (known === undefined) return { name, state: "unknown", appliedAt };
    return { name: known.name, state: known.checksum === checksum ? "applied" : "altered", appliedAt };
  });
  const lacking = migrations.slice(applied.length);
  return [...had, ...lacking.map(({ name }): MigrationState => ({ name, state: "pending", appliedAt: undefined }))];
}
