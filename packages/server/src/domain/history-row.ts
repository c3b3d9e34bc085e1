import { SERVICES } from "./bouquet.ts";
import type { Calendar, Instant } from "./calendar.ts";
import { customerDigest, customerDigestIn, isCheckoutFor } from "./checkout.ts";
import { ENVIRONMENTS, type Environment } from "./customer.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import type { JsonObject } from "./json.ts";
import type { CurrencyExponent } from "./money.ts";
import { mayBeWritten } from "./other-rules.ts";
import { TRANSACTION_STATUSES, type Transaction } from "./top-up.ts";
import { isTransactionId, isTransactionIdOf } from "./transaction-id.ts";

/** The longest udf1 and udf2, in characters (interface, section 8). */
export const FREE_FIELD_MAX_LENGTH = 30;

/** A top-up that another topupd has recorded, and how it was taken back there. */
export interface HistoricTopUp {
  readonly transaction: Transaction;
  /** There just where the transaction is reversed. */
  readonly reversal: StatedReversal | undefined;
}

/** When a top-up was taken back, by whom, and why. */
export interface StatedReversal {
  readonly at: Instant;
  readonly author: string;
  readonly reason: string;
}

/** What a row of an export of transactions is read against. */
export interface HistoryContext {
  readonly calendar: Calendar;
  readonly currencyExponent: CurrencyExponent;
  /** Of which customers the file is. */
  readonly environment: Environment;
  /** By their names. */
  readonly partnerIds: ReadonlyMap<string, number>;
  readonly now: Instant;
}

/**
 * Reads one row as `export transactions` writes it. Where and when it was written, the zone may have had other rules
 * than it has here: then `at`, which is an instant, counts, and `txnDate` must be what one of the zone's offsets makes of it. What the interface's names stand for must fit together: a row
 * in which they do not comes from another zone or another hand, and would be answered otherwise than it was there.
 */
export function readHistoryRow(row: JsonObject, context: HistoryContext): Reading<HistoricTopUp> {
  const fields = new FieldReader(row);
  const at = readPast(fields, "at", context);
  const ids = readIds(fields, at);
  const key = readConnection(fields, ids.checkoutId, context);
  const partnerId = readPartner(fields, context);
  const bouquetCode = fields.identifier("bouquetId");
  const amount = fields.money("amount", context.currencyExponent);
  if (amount === 0n && !fields.isWrong("amount")) fields.problem("amount", "must be more than zero");
  const txnDate = fields.identifier("txnDate");
  if (at !== undefined && txnDate !== "" && !mayBeWritten(txnDate, at, context.calendar))
    fields.problem("txnDate", `is not the time at in the time zone of this database, ${context.calendar.timeZone}`);
  const status = fields.oneOf("status", TRANSACTION_STATUSES);
  const reversal = readReversal(fields, status === "reversed", context);
  const [udf1, udf2] = [readFreeText(fields, "udf1"), readFreeText(fields, "udf2")];
  fields.refuseOthers();
  const what = { bouquetCode, amount, at: at ?? 0, status, udf1, udf2, imported: true } as const;
  return fields.finish({ transaction: { ...ids, partnerId, ...key, ...what }, reversal });
}

function readPast(fields: FieldReader, name: string, { now }: HistoryContext): Instant | undefined {
  const at = fields.instant(name);
  if (at !== undefined && at < 0) return fields.problem(name, "must not be before 1970");
  return at === undefined || at <= now ? at : fields.problem(name, "is in the future: one of the two clocks is wrong");
}

function readIds(fields: FieldReader, at: Instant | undefined) {
  const [txnId, checkoutId] = [fields.identifier("txnId"), fields.identifier("checkoutId")];
  if (txnId !== "" && !isTransactionId(txnId)) fields.problem("txnId", "must be a txnId of a topupd");
  else if (txnId !== "" && at !== undefined && !isTransactionIdOf(txnId, at))
    fields.problem("txnId", "was made at another time than the top-up was recorded at");
  return { txnId, checkoutId };
}

/**
 * A checkoutId carries a digest of its customer, by which its record is found again, and one of the connection: it
 * tells of a number that a spreadsheet has cut the zeros of, which would never be answered for again.
 */
function readConnection(fields: FieldReader, checkoutId: string, context: HistoryContext) {
  const environment = fields.oneOf("environment", ENVIRONMENTS);
  const [cuid, service, reqId] = [
    fields.identifier("cuid"),
    fields.oneOf("service", SERVICES),
    fields.identifier("reqId"),
  ];
  const key = { environment, cuid, service, reqId };
  const digest = customerDigestIn(checkoutId);
  if (environment !== context.environment) {
    if (!fields.isWrong("environment"))
      fields.problem("environment", `must be ${context.environment}, or be imported with --environment ${environment}`);
  } else if (checkoutId !== "" && digest === undefined)
    fields.problem("checkoutId", "must be a checkoutId of a topupd: 64 characters");
  else if (checkoutId !== "" && cuid !== "" && digest !== customerDigest({ environment, cuid }))
    fields.problem("checkoutId", "was not issued for this customer");
  else if (checkoutId !== "" && cuid !== "" && reqId !== "" && !isCheckoutFor(checkoutId, key))
    fields.problem("reqId", "is not the connection of this service that the checkoutId was issued for");
  return key;
}

function readPartner(fields: FieldReader, { partnerIds }: HistoryContext): number {
  const name = fields.text("partner", { maxLength: NAME_MAX_LENGTH });
  const id = partnerIds.get(name);
  if (name !== "" && id === undefined) fields.problem("partner", "is not known here: add it with topupd partner add");
  return id ?? 0;
}

function readReversal(fields: FieldReader, isReversed: boolean, context: HistoryContext): StatedReversal | undefined {
  const names = ["reversedAt", "reversedBy", "reversalReason"] as const;
  if (!isReversed) {
    // A status that is wrong says nothing of the rest.
    const isSuccess = !fields.isWrong("status");
    for (const name of names)
      if (fields.has(name) && isSuccess) fields.problem(name, 'must be empty where status is "success"');
    return undefined;
  }
  const lacking = names.filter((name) => !fields.has(name));
  for (const name of lacking) fields.problem(name, 'is required where status is "reversed"');
  if (lacking.length > 0) return undefined;
  // It may be before the top-up: a clock that was ahead has been set right since.
  const at = readPast(fields, "reversedAt", context);
  const [author, reason] = [
    fields.text("reversedBy", { maxLength: NAME_MAX_LENGTH }),
    fields.text("reversalReason", { maxLength: NAME_MAX_LENGTH }),
  ];
  return at === undefined ? undefined : { at, author, reason };
}

function readFreeText(fields: FieldReader, name: "udf1" | "udf2"): string | undefined {
  return fields.optionalText(name, { maxLength: FREE_FIELD_MAX_LENGTH, mayBeEmpty: true });
}
