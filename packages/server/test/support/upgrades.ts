import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect } from "vitest";
import type { OpenOptions, TestDatabase } from "../store-suite/database.ts";
import { makeSqliteDatabase } from "./sqlite-database.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/* Migrations that only tests have, and databases for them. */

const MIGRATIONS = fileURLToPath(new URL("../../src/store/migrations", import.meta.url));

/** Statements of a migration that only tests have, in the order in which they run. */
export const STATEMENTS = [
  "CREATE TABLE colour (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;",
  "INSERT INTO colour VALUES (1, 'blue');",
  "ALTER TABLE partner ADD COLUMN colour INTEGER;",
  "UPDATE partner SET colour = 1;",
];
export const OTHER = STATEMENTS.join("\n");

/** The migrations of a later topupd: the released ones, and these, of which some are additive. */
export function later(...texts: readonly (string | { readonly additive: string })[]): URL {
  const folder = temporaryFolder();
  cpSync(MIGRATIONS, folder, { recursive: true });
  for (const [at, text] of texts.entries())
    if (typeof text === "string") writeFileSync(join(folder, `000${at + 2}_later.sql`), text);
    else writeFileSync(join(folder, `000${at + 2}_later.additive.sql`), text.additive);
  return pathToFileURL(`${folder}/`);
}

/**
 * A file that moves each time that it is opened: in one process, the driver keeps a file open until its statements are
 * garbage.
 */
export function makeMovingDatabase() {
  let folder = temporaryFolder();
  const moved = () => {
    const next = temporaryFolder();
    cpSync(folder, next, { recursive: true });
    return next;
  };
  const made = {
    path: () => join(folder, "topupd.db"),
    beforeOpening: (_path: string): unknown => undefined,
    /** Leaves the file of the stores that this process has had open. */
    move: () => {
      folder = moved();
    },
    open: async (options: OpenOptions) => {
      made.move();
      await made.beforeOpening(made.path());
      return makeSqliteDatabase(made.path()).open(options);
    },
    read: (query: string) => makeSqliteDatabase(join(moved(), "topupd.db")).read(query),
    tamper: (sql: string) => makeSqliteDatabase(join(moved(), "topupd.db")).tamper(sql),
  };
  return made;
}

/** The colours of partners; undefined in a database of the version before. */
export async function coloursIn({ read }: TestDatabase): Promise<unknown[] | undefined> {
  const had = await read("SELECT name FROM schema_migration ORDER BY number");
  const colours = await read("SELECT colour FROM partner").catch(() => undefined);
  const named = await read("SELECT name FROM colour").catch(() => undefined);
  expect([colours === undefined, named === undefined]).toEqual(had.length === 1 ? [true, true] : [false, false]);
  return colours?.map(({ colour }) => Number(colour));
}
