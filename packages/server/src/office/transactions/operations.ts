import { type Static, Type } from "typebox";
import { explainEntries } from "../../domain/ledger.ts";
import { SETTLED_AFTER_MS } from "../../domain/ledger-import.ts";
import { Refused } from "../../domain/refused.ts";
import { splitOf } from "../../domain/tax.ts";
import { firstTransactionId, isTransactionId, transactionTime } from "../../domain/transaction.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import { ledgersOfConnection } from "../../store/customers.ts";
import type { Ports } from "../../store/ports.ts";
import { daysOf, environmentOf, limitOf, PAGE, readAmount, readIsoInstant, runOf } from "../common.ts";
import { findCuidsByName, MOST_CANDIDATES, readNames } from "../customer-search.ts";
import { csvOf, type Rows, rowsOf } from "../fields.ts";
import type { Office } from "../office.ts";
import { type Operation, operation } from "../operation.ts";
import { partnerIdOf } from "../partners/meant.ts";
import { approvalOf, approvalShower } from "../second-person.ts";
import { saleOf, splitData, taxLines } from "../taxes/lines.ts";
import { readTaxes } from "../taxes/sql.ts";
import { readTransactions, readWithReversals, type TransactionFilter } from "./lists.ts";
import { detailLines, listLines, type Presenter, presenterOf, transactionData, transactionsData } from "./presenter.ts";
import {
  EQUAL,
  ExportedTransactionSchema,
  FILTER,
  type FilterSchema,
  IdSchema,
  TotalsInputSchema,
  TransactionDetailSchema,
  TransactionListSchema,
  TransactionTotalsSchema,
} from "./schemas.ts";
import { findReversals, findSales, findTransaction, prunedBefore, type RecordedReversal } from "./sql.ts";
import { readCursor, sumUp, writeCursor } from "./totals.ts";

const AS = { tag: "Transactions", permission: "read" } as const;
const ROWS_AT_ONCE = 1_000;

/** Makes the filter of an input; a name means all customers who have it. @throws Refused */
async function filterOf(
  office: Pick<Ports, "store" | "clock">,
  input: Static<typeof FilterSchema>,
): Promise<TransactionFilter> {
  const { cuid, name, bouquet: bouquetCode, seller } = input;
  const environment = await environmentOf(office, input);
  const amount = input.amount === undefined ? undefined : readAmount(office, "amount", input.amount);
  const partnerId = await partnerIdOf(office, input);
  const equal = Object.fromEntries(EQUAL.map((each) => [each, input[each]])) as Pick<
    typeof input,
    (typeof EQUAL)[number]
  >;
  const filter = { ...equal, environment, partnerId, bouquetCode, amount, seller, ...daysOf(office, input) };
  if (name === undefined) return { ...filter, cuids: cuid === undefined ? undefined : [cuid] };
  if (cuid !== undefined) throw Refused.field("name", "cannot be given with a cuid");
  const cuids = await findCuidsByName(office.store.engine.db, environment, name, MOST_CANDIDATES);
  if (cuids.length === 0) throw new Refused("not_found", `no ${environment} customer has the name ${name}`);
  if (cuids.length < MOST_CANDIDATES) return { ...filter, cuids };
  throw new Refused("conflict", (naming) => {
    const most = `${MOST_CANDIDATES} customers or more have the name ${name}`;
    return `${most}: give more of the name, or one customer with ${naming("cuid")}`;
  });
}

export const listTransactions = operation({
  ...AS,
  http: "GET /transactions",
  isReport: true,
  summary: "List top-ups, newest first; with after, oldest first",
  input: Type.Object({
    ...FILTER,
    ...PAGE,
    after: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          "Reads forward: top-ups after this txnId, or since this instant (ISO 8601 with its zone), oldest first, without those of the last 60 seconds. Send the cursor as the next `after`; if it is null, there is nothing new yet, so send the same `after` again.",
      }),
    ),
  }),
  answer: TransactionListSchema,
  cli: [
    {
      words: "transaction list",
      show: listLines,
      examples: ["topupd transaction list --from 2026-11-20 --to 2026-11-20", "topupd transaction list --name rai"],
    },
  ],
  async run(office, input) {
    const { cursor, after } = input;
    if (cursor !== undefined && !isTransactionId(cursor)) throw Refused.field("cursor", "must be the cursor of a page");
    if (cursor !== undefined && after !== undefined) throw Refused.field("cursor", "cannot be combined with after");
    // A search by cuid is quick, and a customer may be waiting on the phone.
    if (input.cuid === undefined) office.giveWay();
    const filter = await filterOf(office, input);
    const { store } = office;
    const { environment } = filter;
    const limit = limitOf(input);
    const found =
      after === undefined
        ? await readTransactions(store.engine, filter, { before: cursor, limit })
        : await follow(office, filter, after, limit);
    const { items, rest, isCut } = found;
    const presenter = await presenterOf(office, environment);
    const cuids = items.map(({ cuid }) => cuid);
    const names = await readNames(store.engine.db, environment, cuids);
    const shown = await transactionsData(store.engine.db, items, presenter);
    return {
      items: shown.map((each) => ({ ...each, customer: names.get(each.cuid) ?? null })),
      cursor: rest ?? null,
      reached: isCut ? reachedOf(office, rest) : null,
      prunedBefore: await prunedBefore(office, filter.from),
    };
  },
});

/** The time of the top-up at which a page or sum ended early; null if it did not. */
function reachedOf({ store }: Office, rest: string | undefined): string | null {
  return rest === undefined ? null : store.provider.zone.wallTime(transactionTime(rest));
}

/**
 * Top-ups after a txnId or an instant, oldest first. The last 60 seconds are left out: a top-up that is still being
 * recorded can get a smaller txnId than one that is listed already.
 */
async function follow(office: Office, filter: TransactionFilter, after: string, limit: number) {
  const at = isTransactionId(after) ? undefined : readIsoInstant(after);
  if (at === undefined && !isTransactionId(after))
    throw Refused.field("after", "must be a txnId, or an instant in ISO 8601 with its zone");
  const settledUntil = office.clock() - SETTLED_AFTER_MS + 1;
  await office.store.engine.awaitCommits();
  const settled = { ...filter, until: Math.min(filter.until ?? settledUntil, settledUntil) };
  const beginning = at === undefined ? after : firstTransactionId(at);
  const found = await readTransactions(office.store.engine, settled, { after: beginning, limit });
  return { ...found, rest: found.rest ?? found.items.at(-1)?.txnId };
}

export const sumTransactions = operation({
  ...AS,
  http: "GET /transactions/totals",
  isReport: true,
  summary: "Sum up top-ups",
  input: TotalsInputSchema,
  answer: TransactionTotalsSchema,
  async run(office, { cursor, ...input }) {
    const filter = await filterOf(office, input);
    const { formatAmount } = await presenterOf(office, filter.environment);
    const found = await sumUp(office, filter, input, readCursor(cursor));
    const { count, amount, reversed, reversedAmount } = found.sum;
    return {
      count: Number(count),
      amount: formatAmount(amount),
      reversed: Number(reversed),
      reversedAmount: formatAmount(reversedAmount),
      cursor: writeCursor(found),
      reached: reachedOf(office, found.rest),
    };
  },
});

export const exportTransactions = operation({
  ...AS,
  http: "GET /transactions.csv",
  isReport: true,
  summary: "Export top-ups, newest first",
  input: Type.Object({
    ...FILTER,
    settled: Type.Optional(
      Type.Boolean({ description: "Leaves out the last minute; without a filter, says until when it is complete." }),
    ),
  }),
  answer: rowsOf(ExportedTransactionSchema, csvOf(ExportedTransactionSchema)),
  cli: [
    {
      words: "export transactions",
      given: { settled: true },
      summary:
        "export top-ups, newest first, without the last minute; without a filter, complete_until is the last line",
      examples: ["topupd export transactions --output transactions.csv"],
    },
  ],
  async run(office, { settled = false, ...input }) {
    const filter = await filterOf(office, input);
    return exported(office, filter, settled, await presenterOf(office, filter.environment));
  },
});

/**
 * Yields top-ups with their reversals. Returns `complete_until` if the environment is the only filter: the export holds every
 * top-up and reversal until then.
 * @param isSettled leaves out the top-ups and reversals of the last minute: others of that minute may not be on record yet.
 */
async function* exported(
  { store: { engine, provider }, clock }: Office,
  asked: TransactionFilter,
  isSettled: boolean,
  presenter: Presenter,
): Rows<Static<typeof ExportedTransactionSchema>> {
  const settledUntil = isSettled ? clock() - SETTLED_AFTER_MS : Number.POSITIVE_INFINITY;
  if (isSettled) await engine.awaitCommits();
  const isKnown = (reversal: RecordedReversal | undefined) => reversal !== undefined && reversal.at <= settledUntil;
  const { status, ...others } = asked;
  const until = Math.min(others.until ?? Number.POSITIVE_INFINITY, settledUntil + 1);
  const filter = { ...others, ...(until !== Number.POSITIVE_INFINITY && { until }), ...(!isSettled && { status }) };
  const taxes = await readTaxes(engine.db);
  for await (const page of readWithReversals(engine, filter, ROWS_AT_ONCE)) {
    const known = page.map(({ transaction, reversal }) => {
      if (!isKnown(reversal))
        return { transaction: { ...transaction, status: "success" as const }, reversal: undefined };
      return { transaction, reversal };
    });
    const rows = known.filter(({ transaction }) => status === undefined || transaction.status === status);
    const cuids = rows.map(({ transaction }) => transaction.cuid);
    const names = await readNames(engine.db, filter.environment, cuids);
    const sales = await findSales(
      engine.db,
      rows.map(({ transaction }) => transaction.txnId),
    );
    yield rows.map(({ transaction, reversal }) => {
      const name = names.get(transaction.cuid);
      return {
        ...transactionData(transaction, presenter, sales.get(transaction.txnId)),
        ...splitData(splitOf(saleOf(transaction), taxes), provider.currencyExponent),
        reversedAt: isoTimeOrNull(reversal?.at),
        reversedBy: reversal?.author ?? null,
        reversalReason: reversal?.reason ?? null,
        customerName: name === undefined ? null : `${name.firstName} ${name.lastName}`.trim(),
      };
    });
  }
  const { environment: _, ...said } = asked;
  const isWhole = isSettled && Object.values(said).every((value) => value === undefined);
  return isWhole ? { complete_until: isoTime(settledUntil) } : undefined;
}

export const showTransaction = operation({
  ...AS,
  http: "GET /transactions/:id",
  summary: "Show a top-up and its effect",
  input: Type.Object({ id: IdSchema }),
  answer: TransactionDetailSchema,
  cli: [
    {
      words: "transaction show",
      arguments: ["id"],
      show: detailLines,
      examples: ["topupd transaction show 01M7W2Y7M0D61P39294S26KB1Y"],
    },
  ],
  async run(office, { id }) {
    const { store } = office;
    const { engine } = store;
    const transaction = (await findTransaction(engine.db, id)) ?? noTransaction();
    const { txnId } = transaction;
    const customer = (await store.findConnection(transaction))?.profile;
    const recorded = (await findReversals(engine.db, [txnId])).get(txnId);
    const sale = (await findSales(engine.db, [txnId])).get(txnId);
    const all = await engine.readLedgers(engine.db, transaction.environment, [transaction.cuid]);
    const entries = ledgersOfConnection(all, transaction).flatMap((ledger) =>
      explainEntries(ledger).map((each) => ({ ...each, plan: ledger.plan })),
    );
    const request = await approvalOf(engine.db, { kind: "reversal", subject: txnId });
    const made = entries.find(({ entry }) => entry.kind === "top_up" && entry.txnId === txnId);
    const taken = entries.find(({ entry, plan }) => plan === made?.plan && entry.seq === made.reversedBy);
    const { firstName, lastName, mobile = null } = customer ?? {};
    return {
      ...transactionData(transaction, await presenterOf(office, transaction.environment), sale),
      ...splitData(await taxLines(engine.db, saleOf(transaction)), store.provider.currencyExponent),
      customer: firstName === undefined || lastName === undefined ? null : { firstName, lastName, mobile },
      plan: made?.plan ?? null,
      before: runOf(made?.before),
      after: runOf(made?.entry.after),
      approval:
        request === undefined ? null : (await approvalShower(office, engine.db))(request, { topUp: transaction }),
      reversal:
        recorded === undefined
          ? null
          : { ...recorded, at: isoTime(recorded.at), before: runOf(taken?.before), after: runOf(taken?.entry.after) },
    };
  },
});

/** @throws Refused */
export function noTransaction(): never {
  throw new Refused(
    "not_found",
    "there is no top-up with this txnId or checkoutId: search for it in the list of top-ups",
  );
}

export const operations: readonly Operation[] = [
  listTransactions,
  sumTransactions,
  exportTransactions,
  showTransaction,
];
