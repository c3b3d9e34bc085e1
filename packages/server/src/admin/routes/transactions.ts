import { type Static, Type } from "typebox";
import { exportedTransaction, TRANSACTIONS_HEADER, transactionCells } from "../../csv/transactions.ts";
import { csvText } from "../../csv/writing.ts";
import { parseMoney } from "../../domain/money.ts";
import { TRANSACTION_STATUSES } from "../../domain/top-up.ts";
import { isTransactionId } from "../../domain/transaction-id.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { isoTime } from "../../services/staff/data.ts";
import { showingOf, transactionData } from "../../services/staff/showing.ts";
import {
  followTransactions,
  listTransactions,
  type ReversalAnswer,
  readTransactions,
  reverseTransaction,
  showTransaction,
} from "../../services/staff/transactions.ts";
import type { TransactionFilter } from "../../store/search.ts";
import type { AdminPorts } from "../ports.ts";
import { Problem } from "../problems.ts";
import { route, type StreamedText } from "../route.ts";
import {
  AmountSchema,
  badField,
  DAYS_QUERY,
  daysOf,
  ENVIRONMENT_QUERY,
  environmentOf,
  InstantSchema,
  limitOf,
  oneOf,
  orNull,
  PAGE_QUERY,
  PREVIEW_QUERY,
  pageOf,
  ReasonSchema,
  readIsoInstant,
  ServiceSchema,
  WallTimeSchema,
} from "../schemas/common.ts";
import { CodeSchema, CorrectionEffectSchema, RunSchema, runOf } from "../schemas/customers.ts";
import { TransactionSchema, TransactionTotalsSchema } from "../schemas/transactions.ts";
import { partnerIdOf } from "./attempts.ts";
import { shown } from "./customers.ts";

/* What was topped up. */

const TAG = "Transactions";
/** Rows of the CSV that are read together. */
const ROWS_AT_ONCE = 1_000;

const PlainText = Type.String({ maxLength: 200, pattern: "^\\P{Cc}*$" });
const FILTER = Type.Object({
  ...ENVIRONMENT_QUERY,
  ...DAYS_QUERY,
  partner: Type.Optional(PlainText),
  service: Type.Optional(ServiceSchema),
  cuid: Type.Optional(CodeSchema),
  reqId: Type.Optional(CodeSchema),
  bouquet: Type.Optional(CodeSchema),
  status: Type.Optional(oneOf(TRANSACTION_STATUSES)),
  amount: Type.Optional(AmountSchema),
  udf1: Type.Optional(PlainText),
  udf2: Type.Optional(PlainText),
});

const ID = Type.Object({
  id: Type.String({ maxLength: 64, pattern: "^\\P{Cc}+$", description: "A txnId or checkoutId." }),
});

const DetailFields = {
  ...TransactionSchema.properties,
  customer: orNull(Type.Object({ firstName: Type.String(), lastName: Type.String(), mobile: orNull(Type.String()) })),
  plan: orNull(Type.String()),
  before: orNull(RunSchema),
  after: orNull(RunSchema),
  reversal: orNull(
    Type.Object({
      ...{ at: InstantSchema, wall: WallTimeSchema, author: Type.String(), reason: Type.String() },
      ...{ before: orNull(RunSchema), after: orNull(RunSchema) },
    }),
  ),
};
export const TransactionDetailSchema = Type.Object(DetailFields, { title: "TransactionDetail" });

export const transactionRoutes = [
  route({
    ...{ method: "GET", path: "/transactions", tag: TAG, permission: "read" },
    summary: "List top-ups, newest first; with after, oldest first",
    query: Type.Object({
      ...FILTER.properties,
      ...PAGE_QUERY,
      after: Type.Optional(
        Type.String({
          maxLength: 64,
          description:
            "Reads forward: top-ups after this txnId, or since this instant (ISO 8601 with its zone), oldest first, without those of the last 60 seconds. Send the cursor as the next `after`; if it is null, there is nothing new yet, so send the same `after` again.",
        }),
      ),
    }),
    answer: pageOf(TransactionSchema),
    async handle(ports, { query }) {
      const { cursor } = query;
      if (cursor !== undefined && !isTransactionId(cursor)) throw badField("cursor", "must be the cursor of a page");
      const after = query.after === undefined ? undefined : readAfter(query.after);
      if (cursor !== undefined && after !== undefined) throw badField("cursor", "cannot be combined with after");
      const filter = await filterOf(ports, query);
      const showing = await shown(ports, filter.environment);
      const limit = limitOf(query);
      if (after !== undefined) {
        const followed = await followTransactions(ports, { filter, after, limit });
        const items = followed.map((each) => transactionData(each, showing));
        return { items, cursor: followed.at(-1)?.txnId ?? null };
      }
      const page = await listTransactions(ports, { filter, cursor, limit });
      return {
        items: page.transactions.map((each) => transactionData(each, showing)),
        cursor: page.cursor ?? null,
      };
    },
  }),
  route({
    ...{ method: "GET", path: "/transactions/totals", tag: TAG, permission: "read" },
    summary: "Tell what top-ups come to",
    query: FILTER,
    answer: TransactionTotalsSchema,
    async handle(ports, { query }) {
      const filter = await filterOf(ports, query);
      const { formatAmount } = await shown(ports, filter.environment);
      const { count, amount, reversed, reversedAmount } = await ports.store.search.sumTransactions(filter);
      return { count, amount: formatAmount(amount), reversed, reversedAmount: formatAmount(reversedAmount) };
    },
  }),
  route({
    ...{ method: "GET", path: "/transactions.csv", tag: TAG, permission: "read" },
    summary: "Download top-ups, newest first, as topupd export transactions writes them",
    query: FILTER,
    answer: "csv",
    async handle(ports, { query }): Promise<StreamedText> {
      const filter = await filterOf(ports, query);
      return { fileName: `transactions-${filter.environment}.csv`, pieces: csvOf(ports, filter) };
    },
  }),
  route({
    ...{ method: "GET", path: "/transactions/:id", tag: TAG, permission: "read" },
    summary: "Show a top-up, and what it did",
    params: ID,
    answer: TransactionDetailSchema,
    problems: ["not_found"],
    async handle(ports, { params }) {
      const found = await showTransaction(ports, params);
      if (found === undefined) throw new Problem("not_found");
      const { transaction, customer, plan, effect, reversal } = found;
      const named = customer && { firstName: customer.firstName, lastName: customer.lastName };
      const { at, wall, author, reason, effect: taken } = reversal ?? {};
      return {
        ...transactionData(transaction, await shown(ports, transaction.environment)),
        customer: named === undefined ? null : { ...named, mobile: customer?.mobile ?? null },
        ...{ plan: plan ?? null, before: runOf(effect?.before), after: runOf(effect?.after) },
        reversal:
          at === undefined || wall === undefined || author === undefined || reason === undefined
            ? null
            : { at: isoTime(at), wall, author, reason, before: runOf(taken?.before), after: runOf(taken?.after) },
      };
    },
  }),
  route({
    ...{ method: "POST", path: "/transactions/:id/reversal", tag: TAG, permission: "correct" },
    summary: "Take a top-up back, for good: partners see it as reversed",
    params: ID,
    query: Type.Object(PREVIEW_QUERY),
    body: Type.Object({ reason: ReasonSchema }),
    answer: CorrectionEffectSchema,
    problems: ["not_found", "conflict"],
    async handle(ports, { identity, params, query, body }) {
      const request = { id: params.id, reason: body.reason, preview: query.preview };
      const answer = await reverseTransaction(ports, identity, request);
      if (answer.kind !== "reversed") throw refused(answer);
      const { cuid, service, reqId } = answer.transaction;
      return { cuid, service, reqId, plan: answer.plan, before: runOf(answer.before), after: runOf(answer.after) };
    },
  }),
];

function refused(answer: Exclude<ReversalAnswer, { kind: "reversed" }>): Problem {
  switch (answer.kind) {
    case "history_gone":
      return new Problem("conflict", "What there was before this top-up was let go (topupd prune), so it stays.");
    case "already_reversed": {
      const { author, reason, wall } = answer.reversal ?? {};
      const how = wall === undefined ? "" : `, ${wall} by ${author}: ${reason}`;
      return new Problem("conflict", `This top-up was reversed already${how}`);
    }
    default:
      return new Problem("not_found");
  }
}

function readAfter(text: string): string | Instant {
  if (isTransactionId(text)) return text;
  const at = readIsoInstant(text);
  if (at === undefined) throw badField("after", "must be a txnId, or an instant in ISO 8601 with its zone");
  return at;
}

async function filterOf(ports: AdminPorts, query: Static<typeof FILTER>): Promise<TransactionFilter> {
  const { service, cuid, reqId, bouquet: bouquetCode, status, udf1, udf2 } = query;
  const environment = await environmentOf(ports, query);
  const { currencyExponent } = ports.store.provider;
  const amount = query.amount === undefined ? undefined : parseMoney(query.amount, currencyExponent);
  if (query.amount !== undefined && amount === undefined)
    throw badField("amount", `must be a plain number of up to ${currencyExponent} decimals`);
  const partnerId = await partnerIdOf(ports, query.partner);
  return {
    environment,
    partnerId,
    service,
    cuid,
    reqId,
    bouquetCode,
    status,
    amount,
    udf1,
    udf2,
    ...daysOf(ports, query),
  };
}

async function* csvOf(ports: AdminPorts, filter: TransactionFilter): AsyncGenerator<string> {
  const showing = await showingOf(ports.store, filter.environment);
  yield csvText([TRANSACTIONS_HEADER]);
  for await (const page of readTransactions(ports, filter, ROWS_AT_ONCE))
    yield csvText(page.map((each) => transactionCells(exportedTransaction(each, showing))));
}
