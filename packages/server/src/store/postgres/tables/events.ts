import type { NewEvent } from "../../../domain/event.ts";
import { EVENT_COLUMNS, eventRow } from "../../events.ts";
import { LOCK_EVENTS } from "../session/locks.ts";
import type { Prepared, Query } from "../session/session.ts";
import { unnest, withRows } from "./columns.ts";

/** A row where somebody is to be told of what happens. */
export const FIND_TARGET: Prepared = { name: "target_any", text: "SELECT 1 FROM target LIMIT 1" };

const COLUMNS = EVENT_COLUMNS.filter((column) => column !== "seq");
const INSERT = withRows(
  {
    name: "events_insert",
    text: `INSERT INTO event (seq, ${COLUMNS.join(", ")})
      SELECT (SELECT coalesce(max(seq), 0) FROM event) + k.place, ${COLUMNS.map((column) => `k.${column}`).join(", ")}
      FROM ${unnest(COLUMNS)} WITH ORDINALITY AS k(${COLUMNS.join(", ")}, place)`,
  },
  COLUMNS,
);

/** To be sent last in a transaction: from here to its end, nobody else writes events. */
export function appendEvents(events: readonly NewEvent[]): Query[] {
  return events.length === 0 ? [] : [LOCK_EVENTS, INSERT(events.map(eventRow))];
}
