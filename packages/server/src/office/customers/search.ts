import { Type } from "typebox";
import { looksIssued } from "../../domain/checkout.ts";
import type { Environment } from "../../domain/customer.ts";
import { searchRanges } from "../../domain/customer-search.ts";
import { isTransactionId, isTransactionIdEnd, type Transaction } from "../../domain/transaction.ts";
import { findCustomers, listCustomers } from "../../store/customers.ts";
import type { Db } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";
import { cursorOf, environmentOf, type PageInput, readPage, textsOfCursor } from "../common.ts";
import { findMatches, type Match, MOST_CANDIDATES } from "../customer-search.ts";
import { readTransactions } from "../transactions/lists.ts";
import { findByTxnIdEnd, findTransaction } from "../transactions/sql.ts";

export const SEARCH = Type.Optional(
  Type.String({
    maxLength: 200,
    pattern: "^\\P{Cc}*$",
    description:
      "The beginning or end (four characters or more) of a mobile number, cuid, set-top box number or username; beginnings of the words of a name and area; or a checkoutId, a txnId or its last six characters or more, or a udf1. Without it, all customers are listed.",
  }),
);

interface Searched {
  readonly environment: Environment;
  /** Top-ups that the text names, on the first page, newest first. */
  readonly transactions: readonly Transaction[];
  /** Customers that the text fits; if there is none, those of the top-ups. */
  readonly items: readonly Match[];
  readonly cursor: string | null;
}

/** A page of the customers that a text fits, codes before names. @throws Refused if the cursor is not that of a search. */
export async function searched(
  office: Pick<Ports, "store" | "clock">,
  input: { readonly environment?: Environment | undefined; readonly q?: string | undefined },
  page: PageInput,
): Promise<Searched> {
  const { engine, provider } = office.store;
  const { db } = engine;
  // Lists of the console show the end of a txnId after an ellipsis.
  const text = input.q?.trim().replace(/^…/, "") ?? "";
  const named = await transactionWith(db, text);
  const environment = named?.environment ?? (await environmentOf(office, input));
  if (named !== undefined) return ofTransactions(db, environment, [named]);
  if (text === "") {
    const read = (limit: number) => listCustomers(db, environment, { after: page.cursor, limit });
    const { items, cursor } = await readPage(page, read, ({ cuid }) => cuid);
    return { environment, transactions: [], items: items.map((customer) => ({ customer, code: undefined })), cursor };
  }
  const [range, term = "", cuid = ""] = textsOfCursor(page.cursor, 3) ?? [];
  const after = range === undefined ? undefined : { range: Number(range), term, cuid };
  const read = (limit: number) => findMatches(db, environment, searchRanges(text, provider), { after, limit });
  const found = await readPage(page, read, ({ place }) => cursorOf([String(place.range), place.term, place.cuid]));
  if (after !== undefined) return { environment, transactions: [], ...found };
  const byUdf1 = await readTransactions(engine, { environment, udf1: text }, { limit: MOST_CANDIDATES });
  const transactions = byUdf1.items;
  if (found.items.length > 0) return { environment, transactions, ...found };
  const end = text.toUpperCase();
  if (transactions.length > 0 || !isTransactionIdEnd(end)) return ofTransactions(db, environment, transactions);
  return ofTransactions(db, environment, await findByTxnIdEnd(db, environment, end, MOST_CANDIDATES));
}

async function ofTransactions(
  db: Db,
  environment: Environment,
  transactions: readonly Transaction[],
): Promise<Searched> {
  const customers = await findCustomers(db, environment, [...new Set(transactions.map(({ cuid }) => cuid))]);
  const items = customers.map((customer) => ({ customer, code: undefined }));
  return { environment, transactions, items, cursor: null };
}

/** Finds a top-up. @param text a txnId, a checkoutId, or any other text. */
async function transactionWith(db: Db, text: string): Promise<Transaction | undefined> {
  const txnId = text.toUpperCase();
  if (isTransactionId(txnId)) return findTransaction(db, txnId);
  return looksIssued(text) ? findTransaction(db, text) : undefined;
}
