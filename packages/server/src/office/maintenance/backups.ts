import type { Instant } from "../../domain/wall-time.ts";
import type { Engine } from "../../store/engine.ts";
import { putOnlyRow } from "../../store/only-row.ts";
import type { Db } from "../office.ts";

/** Records when the newest backup was taken. */
export function noteBackup(engine: Engine, at: Instant): Promise<unknown> {
  return engine.transact((tx) => putOnlyRow(tx, "backup_taken", { at }));
}

export async function lastBackupAt(db: Db): Promise<Instant | undefined> {
  return (await db.selectFrom("backup_taken").select("at").executeTakeFirst())?.at;
}
