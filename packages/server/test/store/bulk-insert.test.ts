import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Database } from "../../src/store/sqlite/database.ts";
import { BulkInsert } from "../../src/store/sqlite/tables/bulk-insert.ts";
import { RUNS } from "../domain/builders.ts";
import { temporaryFolder } from "../support/service.ts";

/** All that a column can hold: the fields' rules let no control character and no half of a surrogate pair through. */
const anyText = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed() && !text.includes("\u0000"));
const anyRow = fc.tuple(
  fc.oneof(anyText, fc.constantFrom('"', "\\", "'; --", "\u2028", "null", "[1]", "01", "1e3")),
  fc.option(anyText),
  fc.option(fc.oneof(fc.maxSafeInteger(), fc.constantFrom(0, 1, 1_795_000_000_000))),
);

test("rows come out of the database as they went in, and in their types", () => {
  const database = new Database(join(temporaryFolder(), "rows.db"), { mustExist: false });
  database.exec(
    "CREATE TABLE t (environment TEXT NOT NULL, level INTEGER NOT NULL, plan TEXT NOT NULL, a TEXT NOT NULL, b TEXT, c INTEGER) STRICT",
  );
  const insert = new BulkInsert(database, "INSERT INTO t", ["a", "b", "c"], { level: 1, plan: "" });
  const select = database.prepare("SELECT * FROM t ORDER BY rowid");
  fc.assert(
    fc.property(fc.array(anyRow), (rows) => {
      database.exec("DELETE FROM t");
      insert.run("trial", rows);
      expect(select.all().map((row) => ({ ...row }))).toEqual(
        rows.map(([a, b, c]) => ({ environment: "trial", level: 1, plan: "", a, b, c })),
      );
    }),
    RUNS,
  );
  database.close();
});
