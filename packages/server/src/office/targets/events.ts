import { Type } from "typebox";
import { eventId, eventMessage, seqOfEventId } from "../../domain/event.ts";
import { Refused } from "../../domain/refused.ts";
import type { Db } from "../../store/engine.ts";
import { eventsAfter, eventsOf, lastEvent, placeOf } from "../../store/events.ts";
import { limitOf, PAGE, pageOf } from "../common.ts";
import { decide } from "../decide.ts";
import type { Office } from "../office.ts";
import { operation } from "../operation.ts";
import { requirePermission } from "../rights.ts";
import { ToldEventSchema } from "./schemas.ts";
import { movePlace, targetNamed } from "./sql.ts";

/** The shell has its own command, which follows new events. */
export const listEvents = operation({
  http: "GET /events",
  tag: "Targets and events",
  permission: "read",
  summary: "List events that a target still needs, oldest first; the cursor is the id of the last event",
  input: Type.Object({
    after: Type.Optional(
      Type.String({ description: "Id of an event: later events are listed. Empty starts at the beginning." }),
    ),
    target: Type.Optional(
      Type.String({
        description:
          "A feed: the list begins at its place. `after` (role admin) moves the place there; earlier events are not kept for it.",
      }),
    ),
    limit: PAGE.limit,
  }),
  answer: pageOf(ToldEventSchema),
  refuses: ["forbidden", "conflict", "not_found"],
  async run(office, input) {
    const { target } = input;
    const after = input.after === "" ? undefined : input.after;
    const { engine, provider } = office.store;
    const place = await (target === undefined ? placeAfter(engine.db, after) : placeOfFeed(office, target, after));
    const events = await eventsAfter(engine.db, place, limitOf(input));
    const last = events.at(-1);
    return {
      items: events.map((event) => eventMessage(event, provider.zone, provider.currencyExponent)),
      cursor: last === undefined ? null : eventId(last),
    };
  },
});

/** Reads the cursor, the number of an event; 0 if there is none. The event may be deleted. @throws Refused */
async function placeAfter(db: Db, cursor: string | undefined): Promise<number> {
  if (cursor === undefined) return 0;
  const seq = seqOfEventId(cursor);
  if (seq !== undefined && seq <= (await lastEvent(db))) {
    const [event] = await eventsOf(db, [seq]);
    if (event === undefined || eventId(event) === cursor) return seq;
  }
  throw new Refused("conflict", (naming) => `there is no event of this id: start again without ${naming("after")}`);
}

/** Confirms the events up to the cursor: they are not kept for the feed any more. @throws Refused */
async function placeOfFeed(office: Office, name: string, cursor: string | undefined): Promise<number> {
  const { db } = office.store.engine;
  // A read without a cursor deletes nothing.
  if (cursor !== undefined) await requirePermission(office, "administer");
  const target = await targetNamed(db, name);
  if (target.config.kind !== "feed")
    throw new Refused("conflict", `${name} is no feed: topupd serve sends it its events`);
  if (target.paused) throw new Refused("conflict", `${name} is paused`);
  const place = await placeOf(db, target.id);
  if (cursor === undefined) return place;
  const seq = seqOfEventId(cursor) ?? 0;
  const [event] = await eventsOf(db, [seq]);
  // The event at the place itself may be deleted, since this target has it.
  const isKnown = event === undefined ? seq === place && seq > 0 : eventId(event) === cursor;
  if (!isKnown) {
    const what = "no event of this id is kept";
    throw new Refused("conflict", (naming) => {
      return `${what}: leave out ${naming("after")} to continue from the place of the feed, and read all customers again`;
    });
  }
  await decide(office, [], async (tx) => {
    return { answer: undefined, change: { write: () => movePlace(tx, target, seq), audit: [] } };
  });
  return seq;
}
