import { Type } from "typebox";
import { looksIssued } from "../../domain/checkout.ts";
import type { Environment } from "../../domain/customer.ts";
import { searchRanges } from "../../domain/customer-search.ts";
import { isTransactionId, type Transaction } from "../../domain/transaction.ts";
import { findCustomer, listCustomers } from "../../store/customers.ts";
import type { Db } from "../../store/engine.ts";
import type { ReadingPorts } from "../../store/ports.ts";
import { cursorOf, environmentOf, type PageInput, readPage, textsOfCursor } from "../common.ts";
import { findMatches, type Match } from "../customer-search.ts";
import { findTransaction } from "../transactions/sql.ts";

export const SEARCH = Type.Optional(
  Type.String({
    maxLength: 200,
    pattern: "^\\P{Cc}*$",
    description:
      "The beginning or end (four characters or more) of a mobile number, cuid, set-top box number or username; beginnings of the words of a name; or a checkoutId or txnId. Without it, all customers are listed.",
  }),
);

interface Searched {
  readonly environment: Environment;
  /** The transaction that the text names; its customer is the only match. */
  readonly transaction: Transaction | undefined;
  readonly items: readonly Match[];
  readonly cursor: string | null;
}

/** A page of the customers that a text fits, codes before names. @throws Refused if the cursor is not that of a search. */
export async function searched(
  office: ReadingPorts,
  input: { readonly environment?: Environment | undefined; readonly q?: string | undefined },
  page: PageInput,
): Promise<Searched> {
  const { engine, provider } = office.store;
  const { db } = engine;
  const text = input.q?.trim() ?? "";
  const transaction = await transactionWith(db, text);
  const environment = transaction?.environment ?? (await environmentOf(office, input));
  if (transaction !== undefined) {
    const customer = await findCustomer(db, environment, transaction.cuid);
    const items = customer === undefined ? [] : [{ customer, code: undefined }];
    return { environment, transaction, items, cursor: null };
  }
  if (text === "") {
    const read = (limit: number) => listCustomers(db, environment, { after: page.cursor, limit });
    const { items, cursor } = await readPage(page, read, ({ cuid }) => cuid);
    return { environment, transaction, items: items.map((customer) => ({ customer, code: undefined })), cursor };
  }
  const [range, term = "", cuid = ""] = textsOfCursor(page.cursor, 3) ?? [];
  const after = range === undefined ? undefined : { range: Number(range), term, cuid };
  const read = (limit: number) => findMatches(db, environment, searchRanges(text, provider), { after, limit });
  const found = await readPage(page, read, ({ place }) => cursorOf([String(place.range), place.term, place.cuid]));
  return { environment, transaction, ...found };
}

/** Finds a transaction. @param text a txnId, a checkoutId, or any other text. */
async function transactionWith(db: Db, text: string): Promise<Transaction | undefined> {
  const txnId = text.toUpperCase();
  if (isTransactionId(txnId)) return findTransaction(db, txnId);
  return looksIssued(text) ? findTransaction(db, text) : undefined;
}
