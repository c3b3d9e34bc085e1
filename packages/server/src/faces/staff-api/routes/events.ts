import { Type } from "typebox";
import { EVENT_KINDS, eventId, toldEvent } from "../../../domain/event.ts";
import { PERMISSIONS } from "../../../domain/staff.ts";
import {
  AmountSchema,
  EnvironmentSchema,
  InstantSchema,
  limitOf,
  oneOf,
  orNull,
  PAGE,
  pageOf,
  ServiceSchema,
  WallTimeSchema,
} from "../../../office/common.ts";
import { openFeed, placeOfEvent } from "../../../services/staff/targets.ts";
import type { AdminPorts } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";

/** As webhooks have it. */
export const ToldEventSchema = Type.Object(
  {
    id: Type.String(),
    type: oneOf(EVENT_KINDS),
    timestamp: InstantSchema,
    data: Type.Object({
      environment: EnvironmentSchema,
      cuid: Type.String(),
      connection: Type.Object({ service: ServiceSchema, reqId: Type.String(), blocked: Type.Boolean() }),
      subscriptions: Type.Array(
        Type.Object({
          ...{ plan: Type.String(), bouquetId: Type.String(), name: Type.String(), addOn: Type.Boolean() },
          ...{ start: WallTimeSchema, end: WallTimeSchema },
          goodwillDays: Type.Integer({ description: "Days of goodwill of the current run, which `end` includes." }),
          ...{ startAt: orNull(InstantSchema), endAt: orNull(InstantSchema) },
        }),
      ),
      topUp: Type.Optional(
        Type.Object({
          ...{ txnId: Type.String(), checkoutId: Type.String(), partner: Type.String() },
          ...{ bouquetId: Type.String(), amount: AmountSchema },
        }),
      ),
    }),
  },
  { title: "ToldEvent" },
);

export const eventRoutes = [
  route({
    ...{ method: "GET", path: "/events", tag: "Targets and events", permission: "read" },
    summary:
      "List what happened, oldest first, as long as a target waits for it; the cursor is the id of the last event",
    query: Type.Object({
      after: Type.Optional(
        Type.String({
          description: "The id of an event: those after it are given. Empty, it starts at the beginning.",
        }),
      ),
      target: Type.Optional(
        Type.String({
          description:
            "A target of kind feed. It goes on from its place; with `after`, which takes the role admin, that is its place from then on, and events up to there are not kept for it.",
        }),
      ),
      limit: PAGE.limit,
    }),
    answer: pageOf(ToldEventSchema),
    problems: ["forbidden", "conflict", "not_found"],
    async handle(ports, { identity, query }) {
      const { target } = query;
      const after = query.after === "" ? undefined : query.after;
      if (target !== undefined && after !== undefined && !PERMISSIONS[identity.role].includes("administer"))
        throw new Problem("forbidden");
      const place = target === undefined ? await placeAfter(ports, after) : await placeOfFeed(ports, target, after);
      const events = await ports.store.outbox.eventsAfter(place, limitOf(query));
      const { zone, currencyExponent } = ports.store.provider;
      const last = events.at(-1);
      return {
        items: events.map((event) => toldEvent(event, zone, currencyExponent)),
        cursor: last === undefined ? null : eventId(last),
      };
    },
  }),
];

async function placeAfter(ports: AdminPorts, after: string | undefined): Promise<number> {
  const place = after === undefined ? 0 : await placeOfEvent(ports, after);
  if (place === undefined) throw new Problem("conflict", "There is no event of this id: begin again without `after`.");
  return place;
}

async function placeOfFeed(ports: AdminPorts, name: string, cursor: string | undefined): Promise<number> {
  const opened = await openFeed(ports, { name, cursor });
  switch (opened.kind) {
    case "opened":
      return opened.after;
    case "no_target":
      throw new Problem("not_found");
    case "no_feed":
      throw new Problem("conflict", "It is no feed: it is sent its events.");
    case "paused":
      throw new Problem("conflict", "It is paused.");
    case "unknown_cursor":
      throw new Problem(
        "conflict",
        "No event of this id is kept: leave out `after` to go on from the feed's place, and read the customers anew.",
      );
  }
}
