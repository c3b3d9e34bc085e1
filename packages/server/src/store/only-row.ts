import type { Kysely } from "kysely";
import type { Instant } from "../domain/wall-time.ts";
import type { Tables } from "./tables.ts";

type OnlyRowTable = "provider" | "retention" | "endsTold" | "backupTaken";

/** Writes the only row that a table can have. */
export async function putOnlyRow<Table extends OnlyRowTable>(
  tx: Kysely<Tables>,
  table: Table,
  values: Omit<Tables[Table], "onlyRow">,
): Promise<void> {
  // Kysely does not know the columns of a table that is a parameter.
  const db = tx as unknown as Kysely<Record<OnlyRowTable, { onlyRow: 1 }>>;
  await db
    .insertInto(table as OnlyRowTable)
    .values({ onlyRow: 1, ...values })
    .onConflict((on) => on.column("onlyRow").doUpdateSet(values))
    .execute();
}

/** The time from which history is whole; undefined if none was ever deleted. */
export async function readHorizon(db: Kysely<Tables>): Promise<Instant | undefined> {
  return (await db.selectFrom("retention").select("prunedBefore").executeTakeFirst())?.prunedBefore;
}
