import type { NewEvent } from "../../domain/event.ts";
import { EVENT_COLUMNS, eventRow } from "../events.ts";
import type { Database } from "./database.ts";

/** A row where somebody is to be told of what happens. */
export const FIND_TARGET = "SELECT 1 FROM target LIMIT 1";

const COLUMNS = EVENT_COLUMNS.filter((column) => column !== "seq");
/** SQLite numbers it: one more than the last. */
const INSERT = `INSERT INTO event (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})`;

/** What writes an event, within a transaction. */
export function eventInsertion(database: Database): (event: NewEvent) => void {
  const insert = database.prepare(INSERT);
  return (event) => {
    const row = eventRow(event);
    insert.run(...COLUMNS.map((column) => row[column]));
  };
}
