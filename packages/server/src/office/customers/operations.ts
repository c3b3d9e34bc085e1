import { Type } from "typebox";
import { looksIssued } from "../../domain/checkout.ts";
import {
  type Connection,
  connectionState,
  type Environment,
  findConnection as findByName,
  isBlocked,
  subscriptionsOf,
  wireStatus,
} from "../../domain/customer.ts";
import { isRunning } from "../../domain/subscription.ts";
import { isTransactionId, type Transaction } from "../../domain/top-up.ts";
import { isoTime, isoTimeOrNull, plus, type WallTime } from "../../domain/wall-time.ts";
import { findCustomer, listCustomers, type RecordedCustomer } from "../../store/customers.ts";
import { momentOf } from "../../store/ports.ts";
import { ENVIRONMENT, environmentOf, limitOf, onePage, PAGE, pageOf, pageUpTo, ServiceSchema } from "../common.ts";
import type { Db } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { Refused } from "../refused.ts";
import { presenterOf, transactionData } from "../transactions/presenter.ts";
import { findTransaction } from "../transactions/sql.ts";
import { showLedgers } from "./ledgers.ts";
import { ComingEndSchema, CuidSchema, CustomerMatchesSchema, CustomerSchema } from "./schemas.ts";
import { matchesOf } from "./search.ts";
import { type EndKey, findBlocks, listEnds } from "./sql.ts";

const AS = { tag: "Customers", permission: "read" } as const;
const MOST_DAYS = 60;
const USUAL_DAYS = 7;

export const searchCustomers = operation({
  ...AS,
  http: "GET /customers",
  summary: "Search customers",
  input: Type.Object({
    ...ENVIRONMENT,
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: "^\\P{Cc}*$",
        description:
          "The beginning or end (at least 4 characters) of a mobile number, customer id, set-top box number or username; the beginnings of words of the name; a checkoutId or txnId. All customers are listed if it is empty.",
      }),
    ),
    ...PAGE,
  }),
  answer: CustomerMatchesSchema,
  async run(office, input) {
    const { store } = office;
    const { db } = store.engine;
    const [text, limit] = [input.q?.trim() || undefined, limitOf(input)];
    const transaction = text === undefined ? undefined : await transactionWith(db, text);
    const environment = transaction?.environment ?? (await environmentOf(office, input));
    const { items, cursor } =
      transaction !== undefined
        ? await ofTransaction(db, transaction)
        : text !== undefined
          ? await matchesOf(store, environment, text, { limit, cursor: input.cursor })
          : pageUpTo(limit, await unmatched(db, environment, limit + 1, input.cursor), ({ customer }) => customer.cuid);
    const now = momentOf(office).wall;
    return {
      items: items.map(({ customer, code }) => {
        const connections = customer.connections.map((connection) => {
          return { ...nameAndStatus(connection, now), end: connectionState(connection).baseEnd ?? null };
        });
        return { ...profileOf(customer), environment, code: code ?? null, connections };
      }),
      cursor,
      transaction: transaction ? transactionData(transaction, await presenterOf(store, environment)) : null,
    };
  },
});

/** Finds a transaction. @param text a txnId, a checkoutId, or any other text. */
async function transactionWith(db: Db, text: string): Promise<Transaction | undefined> {
  const txnId = text.toUpperCase();
  if (isTransactionId(txnId)) return findTransaction(db, txnId);
  return looksIssued(text) ? findTransaction(db, text) : undefined;
}

async function ofTransaction(db: Db, { environment, cuid }: Transaction) {
  const customer = await findCustomer(db, environment, cuid);
  return onePage(customer === undefined ? [] : [{ customer, code: undefined }]);
}

async function unmatched(db: Db, environment: Environment, limit: number, after: string | undefined) {
  const customers = await listCustomers(db, environment, { after, limit });
  return customers.map((customer) => ({ customer, code: undefined }));
}

export const showCustomer = operation({
  ...AS,
  http: "GET /customers/:cuid",
  summary: "Show a customer",
  refuses: ["not_found"],
  input: Type.Object({ cuid: CuidSchema, ...ENVIRONMENT }),
  answer: CustomerSchema,
  async run(office, { cuid, ...asked }) {
    const { db } = office.store.engine;
    const environment = await environmentOf(office, asked);
    const customer = await findCustomer(db, environment, cuid);
    if (customer === undefined) throw new Refused("not_found", `no ${environment} customer has the cuid ${cuid}`);
    const blocks = await findBlocks(db, environment, cuid);
    const now = momentOf(office).wall;
    return {
      ...profileOf(customer),
      environment,
      asOf: isoTimeOrNull(customer.asOf),
      connections: customer.connections.map((connection) => {
        const { at, author = "", reason = "" } = findByName(blocks, connection) ?? {};
        return {
          ...nameAndStatus(connection, now),
          blockedByStaff: at === undefined ? null : { at: isoTime(at), author, reason },
          blockedByRecords: connection.status === "blocked",
          segment: connection.segment ?? null,
          subscriptions: subscriptionsOf(connection).map((each) => {
            const { plan, start, end, bouquet } = each;
            const { code: bouquetId, name, addOn } = bouquet;
            return { plan, bouquetId, name, addOn, start, end, running: isRunning(each, now) };
          }),
        };
      }),
    };
  },
});

function profileOf({ cuid, firstName, lastName, mobile, status }: RecordedCustomer) {
  return { cuid, firstName, lastName, mobile: mobile ?? null, status };
}

function nameAndStatus(connection: Connection, now: WallTime) {
  const { service, reqId } = connection;
  const status = isBlocked(connection) ? ("blocked" as const) : wireStatus(connectionState(connection), now);
  return { service, reqId, status };
}

export const listComingEnds = operation({
  ...AS,
  http: "GET /ends",
  summary: "List subscriptions that end soon",
  input: Type.Object({
    ...ENVIRONMENT,
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_DAYS, description: `Number of days (default ${USUAL_DAYS}).` }),
    ),
    service: Type.Optional(ServiceSchema),
    ...PAGE,
  }),
  answer: pageOf(ComingEndSchema),
  async run(office, input) {
    const { days = USUAL_DAYS, service } = input;
    const [environment, limit] = [await environmentOf(office, input), limitOf(input)];
    const now = momentOf(office).wall;
    const filter = { environment, service, after: now, until: plus(now, { months: 0, days }) };
    const found = await listEnds(office.store.engine.db, filter, {
      beyond: readCursor(input.cursor),
      limit: limit + 1,
    });
    const { items, cursor } = pageUpTo(limit, found, endCursor);
    const ends = items.map(({ cuid, profile, service: of, reqId, plan, bouquetCode: bouquetId, end }) => {
      const { firstName = "", lastName = "" } = profile ?? {};
      return { cuid, firstName, lastName, service: of, reqId, plan, bouquetId, end };
    });
    return { items: ends, cursor };
  },
});

function endCursor({ end, cuid, service, reqId, plan }: EndKey): string {
  return Buffer.from(JSON.stringify({ end, cuid, service, reqId, plan })).toString("base64url");
}

function readCursor(cursor: string | undefined): EndKey | undefined {
  if (cursor === undefined) return undefined;
  try {
    const key = JSON.parse(Buffer.from(cursor, "base64url").toString()) as EndKey;
    if ([key.end, key.cuid, key.service, key.reqId, key.plan].every((each) => typeof each === "string")) return key;
  } catch {
    // The refusal names the field.
  }
  throw Refused.field("cursor", "must be the cursor of a page");
}

export const operations: readonly Operation[] = [searchCustomers, showCustomer, showLedgers, listComingEnds];
