import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { describeSchema } from "../../src/store/postgres/schema.ts";
import { withOwnSession } from "../../src/store/postgres/session/database.ts";
import { openStore } from "../store-suite/database.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { temporaryFolder } from "../support/service.ts";
import { makeSqliteDatabase, rawConnection } from "../support/sqlite-database.ts";

const CONTRACT = "../../../../contract";

/*
 * The tables that all migrations together make, committed: a change of a schema shows in a review as what it
 * comes to, and a migration that was edited after its release shows at all.
 */

test("SQLite's tables are those of the committed schema", async () => {
  const path = join(temporaryFolder(), "topupd.db");
  await openStore(() => makeSqliteDatabase(path));
  const rows = rawConnection(path)
    .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name")
    .all() as { sql: string }[];
  await expect(`${rows.map(({ sql }) => `${sql};`).join("\n\n")}\n`).toMatchFileSnapshot(
    `${CONTRACT}/schema.sqlite.sql`,
  );
});

test("PostgreSQL's tables are those of the committed schema, whatever its version", async () => {
  const database = makePostgresDatabase();
  await openStore(() => database);
  const parts = await withOwnSession(database.url, "working", (session) => describeSchema(session));
  await expect(`${parts.join("\n")}\n`).toMatchFileSnapshot(`${CONTRACT}/schema.postgres.txt`);
});

test("every migration is the one whose checksum is committed", async () => {
  const store = fileURLToPath(new URL("../../src/store/", import.meta.url));
  const lines = ["sqlite", "postgres"].flatMap((kind) => {
    const folder = join(store, kind, "migrations");
    return readdirSync(folder)
      .sort()
      .map((name) => {
        const checksum = createHash("sha256")
          .update(readFileSync(join(folder, name)))
          .digest("hex");
        return `${checksum}  ${kind}/${name}`;
      });
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(`${CONTRACT}/migrations.sha256`);
});
