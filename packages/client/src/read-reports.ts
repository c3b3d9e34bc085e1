import { readSignedAmount } from "./amounts.ts";
import { type JsonObject, own } from "./read-json.ts";
import { amountAt, listAt, objectAt, readTransaction, textAt, WrongShape } from "./read-values.ts";
import type { Account, AccountEntry, AccountLimits, CommissionRule, Days, Listed, OwnTopUp } from "./values.ts";

/* Reads the bodies of topupd's reports. */

interface Page<Item> extends Listed<Item> {
  /** The cursor of the next page; null after the last. */
  readonly next: string | null;
}

/**
 * Reads a page. A page of other days, or one that leads to itself, is refused: a proxy may have stored it.
 *
 * @param asked the days; a list by udf1 has none.
 * @param cursor the cursor of the request; undefined for the first page.
 */
export function readPage<Item>(
  body: JsonObject,
  asked: { readonly [Day in keyof Days]?: string },
  cursor: string | undefined,
  read: (item: JsonObject) => Item,
): Page<Item> {
  const { from = null, to = null } = asked;
  if (own(body, "from") !== from || own(body, "to") !== to) throw new WrongShape("from, to: the list is of other days");
  const next = orNull(textAt)(body, "next");
  if (next === cursor) throw new WrongShape("next: the same page again");
  return { items: listAt(body, "items").map(read), next };
}

export function readOwnTopUp(item: JsonObject): OwnTopUp {
  return {
    ...readTransaction(item),
    commission: amountAt(item, "commission"),
    reversedAt: orNull(textAt)(item, "reversedAt"),
    udf1: orNull(textAt)(item, "udf1"),
    udf2: orNull(textAt)(item, "udf2"),
  };
}

export function readEntry(item: JsonObject): AccountEntry {
  return {
    at: textAt(item, "at"),
    kind: textAt(item, "kind"),
    amount: signedAt(item, "amount"),
    balance: signedAt(item, "balance"),
    reference: orNull(textAt)(item, "reference"),
    txnId: orNull(textAt)(item, "txnId"),
    orderId: orNull(textAt)(item, "orderId"),
    gross: orNull(amountAt)(item, "gross"),
    commission: orNull(amountAt)(item, "commission"),
  };
}

export function readAccount(body: JsonObject): Account {
  return {
    balance: signedAt(body, "balance"),
    creditLimit: orNull(amountAt)(body, "creditLimit"),
    available: orNull(signedAt)(body, "available"),
    currency: orNull(textAt)(body, "currency"),
    commission: listAt(body, "commission").map(readRule),
    limits: readLimits(objectAt(body, "limits")),
  };
}

function readRule(item: JsonObject): CommissionRule {
  return {
    service: orNull(textAt)(item, "service"),
    bouquetId: orNull(textAt)(item, "bouquetId"),
    percent: orNull(amountAt)(item, "percent"),
    fixed: orNull(amountAt)(item, "fixed"),
    from: textAt(item, "from"),
  };
}

function readLimits(limits: JsonObject): AccountLimits {
  return {
    topUpAmount: orNull(amountAt)(limits, "topUpAmount"),
    dayAmount: orNull(amountAt)(limits, "dayAmount"),
    dayTopUps: orNull(countAt)(limits, "dayTopUps"),
    rate: countAt(limits, "rate"),
    burst: countAt(limits, "burst"),
    newLookUps: orNull(countAt)(limits, "newLookUps"),
  };
}

export function signedAt(object: JsonObject, name: string): string {
  const amount = readSignedAmount(own(object, name));
  if (amount === undefined) throw new WrongShape(`${name}: not an exact amount`);
  return amount;
}

function countAt(object: JsonObject, name: string): number {
  const count = own(object, name);
  if (!Number.isSafeInteger(count)) throw new WrongShape(`${name}: not a whole number`);
  return count as number;
}

function orNull<Value>(at: (object: JsonObject, name: string) => Value) {
  return (object: JsonObject, name: string) => (own(object, name) === null ? null : at(object, name));
}
