import type { CheckEvent } from "../store.ts";
import type { Database } from "./database.ts";
import { isSchemaExpected } from "./migrate.ts";

/** Looks at the file itself; whether its rows make sense together, the back office knows. */
export function* checkFile(database: Database): Generator<CheckEvent> {
  yield* checkIntegrity(database);
  database.verifyDurability();
  yield { kind: "checked", what: "durability: write-ahead log, synchronous=FULL", count: 1 };
  yield isSchemaExpected(database)
    ? { kind: "checked", what: "tables and triggers are those of this topupd", count: 1 }
    : { kind: "wrong", what: "tables or triggers are not those of this topupd" };
}

function* checkIntegrity(database: Database): Generator<CheckEvent> {
  const faults = database.prepareRows<{ integrity_check: string }>("PRAGMA integrity_check")();
  const broken = faults.filter((fault) => fault.integrity_check !== "ok");
  for (const fault of broken) yield { kind: "wrong", what: `integrity: ${fault.integrity_check}` };
  const dangling = database.prepareRows<{ table: string }>("PRAGMA foreign_key_check")();
  for (const { table } of dangling) yield { kind: "wrong", what: `integrity: a row of ${table} refers to nothing` };
  if (broken.length + dangling.length === 0) yield { kind: "checked", what: "integrity of the file", count: 1 };
}
