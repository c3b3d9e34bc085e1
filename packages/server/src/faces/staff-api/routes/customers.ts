import { type Static, Type } from "typebox";
import {
  connectionState,
  type Connection as DomainConnection,
  findConnection,
  isBlocked,
  subscriptionsOf,
  wireStatus,
} from "../../../domain/customer.ts";
import { sharedWords } from "../../../domain/customer-audit.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { formatMoneyInFull } from "../../../domain/money.ts";
import { isRunning } from "../../../domain/subscription.ts";
import type { WallTime } from "../../../domain/wall-time.ts";
import { isoTime, isoTimeOrNull } from "../../../domain/wall-time.ts";
import { ENVIRONMENT, environmentOf, limitOf, PAGE, PREVIEW, pageOf, ServiceSchema } from "../../../office/common.ts";
import {
  ComingEndSchema,
  CUSTOMER_ROW,
  CustomerMatchesSchema,
  CustomerSchema,
  CustomerWrittenSchema,
  heldBackFields,
  type LedgerEntrySchema,
  LedgersSchema,
} from "../../../office/customers/schemas.ts";
import { Refused } from "../../../office/refused.ts";
import { CodeSchema, runOf } from "../../../office/runs.ts";
import { blockData } from "../../../services/staff/data.ts";
import { importCustomer } from "../../../services/staff/import-customer.ts";
import { listComingEnds, searchCustomers } from "../../../services/staff/search-customers.ts";
import { partnerName, type Showing, showingOf, transactionData } from "../../../services/staff/showing.ts";
import { type ExplainedEntry, explainCustomer } from "../../../services/staff/subscriptions.ts";
import { momentOf } from "../../../store/ports.ts";
import type { EndKey, RecordedCustomer } from "../../../store/search.ts";
import type { AdminPorts } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route } from "../route.ts";

/* Who partners top up for, and what each of them has. */

const TAG = "Customers";
const MOST_DAYS = 60;
const USUAL_DAYS = 7;

export const CUSTOMER = Type.Object({ cuid: CodeSchema });
const SearchText = Type.String({
  maxLength: 200,
  pattern: "^\\P{Cc}*$",
  description:
    "A mobile number in any form, a cuid, set-top box number or username; or else a name or parts of one; or a checkoutId or txnId. Without it, all customers are listed.",
});

export const customerRoutes = [
  route({
    ...{ method: "GET", path: "/customers", tag: TAG, permission: "read" },
    summary: "Search customers",
    query: Type.Object({ ...ENVIRONMENT, q: Type.Optional(SearchText), ...PAGE }),
    answer: CustomerMatchesSchema,
    async handle(ports, { query }) {
      const asked = await environmentOf(ports, query);
      const text = query.q?.trim() || undefined;
      const request = { environment: asked, text, after: query.cursor, limit: limitOf(query) };
      const { customers, hasMore, transaction } = await searchCustomers(ports, request);
      const environment = transaction?.environment ?? asked;
      const now = momentOf(ports).wall;
      return {
        items: customers.map((each) => {
          const connections = each.connections.map((connection) => nameAndStatus(connection, now));
          return { ...profileOf(each), environment, connections };
        }),
        cursor: hasMore ? (customers.at(-1)?.cuid ?? null) : null,
        transaction: transaction === undefined ? null : transactionData(transaction, await shown(ports, environment)),
      };
    },
  }),
  route({
    ...{ method: "GET", path: "/customers/:cuid", tag: TAG, permission: "read" },
    summary: "Show a customer",
    params: CUSTOMER,
    query: Type.Object(ENVIRONMENT),
    answer: CustomerSchema,
    problems: ["not_found"],
    async handle(ports, { params, query }) {
      const environment = await environmentOf(ports, query);
      const customer = await ports.store.search.findCustomer(environment, params.cuid);
      if (customer === undefined) throw new Problem("not_found");
      const blocks = await ports.store.search.findBlocks(environment, params.cuid);
      const now = momentOf(ports).wall;
      return {
        ...{ ...profileOf(customer), environment, asOf: isoTimeOrNull(customer.asOf) },
        connections: customer.connections.map((connection) => ({
          ...{ ...nameAndStatus(connection, now), blockedByStaff: blockData(findConnection(blocks, connection)) },
          segment: connection.segment ?? null,
          subscriptions: subscriptionsOf(connection).map((each) => {
            const { plan, start, end, bouquet } = each;
            const { code: bouquetId, name, addOn } = bouquet;
            return { plan, bouquetId, name, addOn, start, end, running: isRunning(each, now) };
          }),
        })),
      };
    },
  }),
  route({
    ...{ method: "PUT", path: "/customers/:cuid", tag: TAG, permission: "administer" },
    summary: "Write a customer: a row of a customers file, with its asOf",
    params: CUSTOMER,
    query: Type.Object({
      ...ENVIRONMENT,
      ...PREVIEW,
      allowShorter: Type.Optional(Type.Boolean({ description: "Lets the row end what the customer has paid for." })),
    }),
    body: CUSTOMER_ROW,
    answer: CustomerWrittenSchema,
    problems: ["conflict"],
    async handle(ports, { identity, params, query, body }) {
      const environment = await environmentOf(ports, query);
      if (body["cuid"] !== params.cuid) throw Refused.field("cuid", "must be the one in the path");
      const { allowShorter = false, preview = false } = query;
      const request = { environment, row: body as JsonObject, allowShorter, dryRun: preview };
      const imported = await importCustomer(ports, identity, request);
      if (imported.kind === "as_of_refused") throw Refused.field("asOf", imported.problem);
      if (imported.kind === "bad_row") throw new Problem("invalid", undefined, imported.problems);
      const { cuid, kind, isStale: stale, changes, heldBack, shared } = imported.effect;
      if (kind === "refused") throw new Problem("conflict", shared && `${shared.reqId} ${sharedWords(shared)}.`);
      return {
        ...{ cuid, outcome: kind, stale },
        changes: changes.map(({ field, from, to }) => ({ field, from: from ?? null, to: to ?? null })),
        heldBack: heldBack.map(heldBackFields),
      };
    },
  }),
  route({
    ...{ method: "GET", path: "/customers/:cuid/ledgers", tag: TAG, permission: "read" },
    summary: "Tell why each subscription of a customer ends when it does",
    params: CUSTOMER,
    query: Type.Object({
      ...ENVIRONMENT,
      service: Type.Optional(ServiceSchema),
      reqId: Type.Optional(CodeSchema),
    }),
    answer: LedgersSchema,
    async handle(ports, { params, query }) {
      const environment = await environmentOf(ports, query);
      const { service, reqId } = query;
      const named = { ...(service !== undefined && { service }), ...(reqId !== undefined && { reqId }) };
      const explained = await explainCustomer(ports, { environment, cuid: params.cuid, ...named });
      const showing = await shown(ports, environment);
      return {
        plans: explained.map(({ entries, subscription, ...plan }) => ({
          ...{ service: plan.service, reqId: plan.reqId, plan: plan.plan, run: runOf(subscription) },
          entries: entries.map((entry) => entryData(entry, showing)),
        })),
      };
    },
  }),
  route({
    ...{ method: "GET", path: "/ends", tag: TAG, permission: "read" },
    summary: "List the subscriptions that end in the coming days",
    query: Type.Object({
      ...ENVIRONMENT,
      days: Type.Optional(
        Type.Integer({ minimum: 1, maximum: MOST_DAYS, description: `How many; ${USUAL_DAYS} unless given.` }),
      ),
      service: Type.Optional(ServiceSchema),
      ...PAGE,
    }),
    answer: pageOf(ComingEndSchema),
    async handle(ports, { query }) {
      const environment = await environmentOf(ports, query);
      const { days = USUAL_DAYS, service } = query;
      const request = { environment, service, days, beyond: readEndCursor(query.cursor), limit: limitOf(query) };
      const { ends, cursor } = await listComingEnds(ports, request);
      return {
        items: ends.map(({ cuid, profile, service: of, reqId, plan, bouquetCode: bouquetId, end }) => {
          const { firstName = "", lastName = "" } = profile ?? {};
          return { cuid, firstName, lastName, service: of, reqId, plan, bouquetId, end };
        }),
        cursor: cursor === undefined ? null : endCursor(cursor),
      };
    },
  }),
];

/** With amounts in full. */
export function shown({ store }: AdminPorts, environment: Parameters<typeof showingOf>[1]): Promise<Showing> {
  return showingOf(store, environment, formatMoneyInFull);
}

function profileOf({ cuid, firstName, lastName, mobile, status }: RecordedCustomer) {
  return { cuid, firstName, lastName, mobile: mobile ?? null, status };
}

function nameAndStatus(connection: DomainConnection, now: WallTime) {
  const { service, reqId } = connection;
  const status = isBlocked(connection) ? ("blocked" as const) : wireStatus(connectionState(connection), now);
  return { service, reqId, status };
}

function entryData(explained: ExplainedEntry, showing: Showing): Static<typeof LedgerEntrySchema> {
  const { entry, before, reversedBy, isOpening, transaction } = explained;
  const { seq, kind, at, after } = entry;
  const granted = entry.kind === "top_up" || entry.kind === "goodwill" ? entry : undefined;
  const reasoned = entry.kind === "goodwill" || entry.kind === "reversal" ? entry : undefined;
  const bouquet = entry.kind === "import" ? entry.stated?.bouquet : granted?.bouquet;
  return {
    ...{ seq, kind, at: isoTime(at.instant), wall: at.wall, before: runOf(before), after: runOf(after) },
    ...{ period: granted === undefined ? null : { ...granted.period }, bouquetId: bouquet?.code ?? null },
    ...{ txnId: entry.kind === "top_up" ? entry.txnId : null },
    partner: transaction === undefined ? null : partnerName(transaction, showing),
    amount: transaction === undefined ? null : showing.formatAmount(transaction.amount),
    ...{ reverses: entry.kind === "reversal" ? entry.of : null, reversedBy: reversedBy ?? null },
    ...{ author: reasoned?.author ?? null, reason: reasoned?.reason ?? null },
    ...{ asOf: entry.kind === "import" ? entry.asOf.wall : null, isOpening },
    goodwill: entry.kind === "import" ? entry.goodwill : null,
  };
}

function endCursor({ end, cuid, service, reqId, plan }: EndKey): string {
  return Buffer.from(JSON.stringify({ end, cuid, service, reqId, plan })).toString("base64url");
}

function readEndCursor(cursor: string | undefined): EndKey | undefined {
  if (cursor === undefined) return undefined;
  try {
    const key = JSON.parse(Buffer.from(cursor, "base64url").toString()) as EndKey;
    if ([key.end, key.cuid, key.service, key.reqId, key.plan].every((each) => typeof each === "string")) return key;
  } catch {
    // It is none of ours.
  }
  throw Refused.field("cursor", "must be the cursor of a page");
}
