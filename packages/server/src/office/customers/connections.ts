import { type Static, Type } from "typebox";
import { SERVICES } from "../../domain/bouquet.ts";
import { isBlocked, subscriptionsOf } from "../../domain/customer.ts";
import { daysLeft, runState } from "../../domain/plan-view.ts";
import { Refused } from "../../domain/refused.ts";
import { plus, type WallTime } from "../../domain/wall-time.ts";
import { momentOf } from "../../store/ports.ts";
import {
  cursorOf,
  ENVIRONMENT,
  environmentOf,
  oneOf,
  PAGE,
  type PageInput,
  pageOf,
  readPage,
  textsOfCursor,
} from "../common.ts";
import type { Match } from "../customer-search.ts";
import { type Rows, rowsOf } from "../fields.ts";
import type { Office } from "../office.ts";
import { operation } from "../operation.ts";
import { AreasSchema, ListedConnectionSchema } from "./schemas.ts";
import { SEARCH, searched } from "./search.ts";
import * as sql from "./sql.ts";

const AS = { tag: "Customers", permission: "read" } as const;
const MOST_DAYS = 366;
const ROWS_AT_ONCE = 5_000;
/** No subscription ends later. */
const LAST = "9999-12-31 23:59:59";

const days = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_DAYS, description: `${description} (1 to ${MOST_DAYS}).` }));

const FILTER = {
  ...ENVIRONMENT,
  endsWithin: days("Subscriptions that end in the next days"),
  endedWithin: days("Subscriptions that ended in the last days"),
  state: Type.Optional(
    oneOf(
      ["running", "blocked", "no_subscription"],
      "Subscriptions that run now on connections that are not blocked, by end; blocked connections; or connections without a subscription.",
    ),
  ),
  segment: Type.Optional(Type.String({ maxLength: 64, description: "Connections of this segment." })),
  area: Type.Optional(Type.String({ maxLength: 64, description: "Connections of customers of this area." })),
  service: Type.Optional(oneOf(SERVICES, "Connections of this service.")),
  search: SEARCH,
};
const FilterSchema = Type.Object(FILTER);
type ConnectionInput = Static<typeof FilterSchema>;
const NO_SUBSCRIPTION = "no_subscription";
type ListedConnection = Static<typeof ListedConnectionSchema>;

export const listConnections = operation({
  ...AS,
  http: "GET /connections",
  isReport: true,
  summary: "List connections with their subscriptions, by customer id, or by end if an end is asked for",
  input: Type.Object({ ...FILTER, ...PAGE }),
  answer: pageOf(ListedConnectionSchema),
  cli: [
    {
      words: "customer list",
      summary: "list connections with their subscriptions",
      show: [
        "cuid",
        "firstName",
        "lastName",
        "service",
        "reqId",
        "plan",
        "end",
        "daysLeft",
        "segment",
        "area",
        "state",
      ],
      examples: ["topupd customer list --ends-within 7", "topupd customer list --area Lalitpur --state running"],
    },
  ],
  async run(office, { cursor, limit, ...input }) {
    office.giveWay();
    return pageOfConnections(office, input, { cursor, limit });
  },
});

export const exportConnections = operation({
  ...AS,
  http: "GET /connections.csv",
  isReport: true,
  summary: "Export connections with their subscriptions",
  input: FilterSchema,
  answer: rowsOf(ListedConnectionSchema),
  run: async (office, input) => exported(office, input),
});

export const listAreas = operation({
  ...AS,
  http: "GET /areas",
  summary: "List areas with their numbers of customers",
  input: Type.Object(ENVIRONMENT),
  answer: AreasSchema,
  async run(office, input) {
    return { items: await sql.listAreas(office.store.engine.db, await environmentOf(office, input)) };
  },
});

async function* exported(office: Office, input: ConnectionInput): Rows<ListedConnection> {
  let cursor: string | undefined;
  do {
    const page = await pageOfConnections(office, input, { cursor, limit: ROWS_AT_ONCE });
    yield page.items;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return undefined;
}

/** A page of the list. With `search`, the page has all rows of `limit` customers. @throws Refused */
async function pageOfConnections(
  office: Office,
  { search: q, ...input }: ConnectionInput,
  page: PageInput,
): Promise<{ items: ListedConnection[]; cursor: string | null }> {
  const { endsWithin, endedWithin, service, segment, area, state } = input;
  const now = momentOf(office).wall;
  if (q !== undefined) {
    const given = [endsWithin, endedWithin, service, segment, area, state].some((each) => each !== undefined);
    if (given) throw Refused.field("search", "cannot be combined with a filter");
    const found = await searched(office, { ...input, q }, page);
    return { items: found.items.flatMap((match) => rowsOfMatch(match, now)), cursor: found.cursor };
  }
  const runs = state === "running";
  if (runs && endedWithin !== undefined) throw Refused.field("endedWithin", "cannot be combined with running");
  const days = (count: number) => plus(now, { months: 0, days: count });
  const ends =
    endsWithin === undefined && endedWithin === undefined && !runs
      ? undefined
      : { after: days(-(endedWithin ?? 0)), until: runs && endsWithin === undefined ? LAST : days(endsWithin ?? 0) };
  const environment = await environmentOf(office, input);
  const filter = { environment, service, segment, area, state, ends };
  const beyond = placeOf(page.cursor);
  const read = (limit: number) => sql.listConnections(office.store.engine.db, filter, { beyond, limit });
  const { items, cursor } = await readPage(page, read, ({ cuid, service: of, reqId, plan, end }) => {
    return cursorOf([cuid, of, reqId, plan ?? "", end ?? ""]);
  });
  return { items: items.map((row) => listed(row, now)), cursor };
}

function placeOf(cursor: string | undefined): sql.ConnectionPlace | undefined {
  const texts = textsOfCursor(cursor, 5);
  if (texts === undefined) return undefined;
  const [cuid = "", service, reqId = "", plan = "", end = ""] = texts;
  return { cuid, service: service as sql.ConnectionPlace["service"], reqId, plan, end };
}

function rowsOfMatch({ customer }: Match, now: WallTime): ListedConnection[] {
  const { cuid, firstName, lastName, area = null, connections } = customer;
  const profile = { cuid, firstName, lastName, area };
  if (connections.length === 0) {
    const none = { service: null, reqId: null, plan: null, bouquetId: null, bouquetName: null, segment: null };
    return [{ ...profile, ...none, end: null, daysLeft: null, state: NO_SUBSCRIPTION }];
  }
  return connections.flatMap((connection) => {
    const { service, reqId, status, blocked, segment = null } = connection;
    const row = { ...profile, service, reqId, status, blocked, segment };
    const subscriptions = subscriptionsOf(connection).map(({ plan, start, end, bouquet: { code, name } }) => {
      return { plan, start, end, bouquetCode: code, bouquetName: name };
    });
    const none = { plan: null, start: null, end: null, bouquetCode: null, bouquetName: null };
    return (subscriptions.length === 0 ? [none] : subscriptions).map((each) => listed({ ...row, ...each }, now));
  });
}

function listed(row: sql.ListedConnection, now: WallTime): ListedConnection {
  const { cuid, firstName, lastName, service, reqId, plan, bouquetCode: bouquetId, bouquetName } = row;
  const { area, segment } = row;
  const shown = { cuid, firstName, lastName, area, service, reqId, plan, bouquetId, bouquetName, segment };
  const { start, end } = row;
  if (start === null || end === null) return { ...shown, end: null, daysLeft: null, state: NO_SUBSCRIPTION };
  return { ...shown, end, daysLeft: daysLeft(end, now), state: runState({ start, end }, isBlocked(row), now) };
}
