import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Instant } from "../domain/wall-time.ts";
import { StoreRefused } from "./errors.ts";
import type { MigrationState } from "./store.ts";

/** Said where a database lacks migrations, and whoever opened it may not apply them. */
export const NOT_UP_TO_DATE =
  "the database is of an older topupd: topupd migrate, or topupd serve at its start, brings it up to date";

/** One numbered file of SQL. Once released it is never edited: its checksum is on record wherever it was applied. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** A migration that a database has had. */
export interface AppliedMigration {
  name: string;
  checksum: string;
  applied_at: Instant;
}

/** @param folder of a store, ending in a slash. */
export function readMigrations(folder: URL): Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  return names.sort().map((name, index) => {
    const sql = readFileSync(new URL(name, folder), "utf8");
    if (Number.parseInt(name, 10) !== index + 1) throw new Error(`the migrations have a gap before ${name}`);
    return { number: index + 1, name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
  });
}

/**
 * The migrations that a database still lacks.
 * @throws StoreRefused where it has had another one under the same number, or one that this topupd does not know.
 */
export function pendingMigrations(migrations: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const states = migrationStates(migrations, applied);
  const altered = states.find(({ state }) => state === "altered");
  if (altered !== undefined)
    throw new StoreRefused(`migration ${altered.name} of the database is not the one of this topupd`);
  if (states.some(({ state }) => state === "unknown"))
    throw new StoreRefused("the database was made by a newer topupd: use that, or restore a backup");
  return migrations.slice(applied.length);
}

/** What the database has had and what it lacks, in the order of the numbers. */
export function migrationStates(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): MigrationState[] {
  const had = applied.map(({ name, checksum, applied_at: appliedAt }, index): MigrationState => {
    const known = migrations[index];
    if (known === undefined) return { name, state: "unknown", appliedAt };
    return { name: known.name, state: known.checksum === checksum ? "applied" : "altered", appliedAt };
  });
  const lacking = migrations.slice(applied.length);
  return [...had, ...lacking.map(({ name }): MigrationState => ({ name, state: "pending", appliedAt: undefined }))];
}
