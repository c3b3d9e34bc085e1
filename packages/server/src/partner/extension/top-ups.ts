import { type Static, Type } from "typebox";
import { SERVICES } from "../../domain/bouquet.ts";
import { type CurrencyExponent, moneyToJson } from "../../domain/money.ts";
import { TRANSACTION_STATUSES } from "../../domain/transaction.ts";
import { type OwnDays, type OwnReference, type OwnTopUp, readOwnTopUps } from "../../store/own-pages.ts";
import { amount, timestamp } from "../versions/v1_0_1.ts";
import { PERIOD_PARAMETERS, REFERENCE_PARAMETER, readPeriod, writeCursor } from "./period.ts";
import { listFields, orNull } from "./schemas.ts";
import type { Report } from "./shape.ts";

const udf = orNull(Type.String(), "Your own text; null if you sent none.");

const dayOrNull = (description: string) => orNull(Type.String(), `${description}; null if you asked by \`udf1\`.`);

export const OwnTopUpItem = Type.Object(
  {
    txnId: Type.String({ description: "The provider's number of the top-up." }),
    orderId: Type.String({ description: "The checkoutId that was used." }),
    cuid: Type.String({ description: "The customer id." }),
    service: Type.String({ enum: [...SERVICES], description: "The service of the connection." }),
    reqId: Type.String({ description: "The set-top box number or username that was topped up." }),
    bouquetId: Type.String({ description: "The code of the bouquet that was bought." }),
    amt: amount("The price."),
    commission: amount("The part of `amt` that you keep."),
    txnDate: timestamp("When the top-up was recorded."),
    status: Type.String({ enum: [...TRANSACTION_STATUSES], description: "`reversed` if the provider reversed it." }),
    reversedAt: orNull(
      timestamp("When the provider reversed it."),
      "When the provider reversed it; null if it is not reversed.",
    ),
    udf1: udf,
    udf2: udf,
  },
  { title: "OwnTopUp", description: "A top-up that you made." },
);

export const TOP_UPS: Report = {
  name: "partner/top-ups",
  operationId: "listTopUps",
  summary: "List your top-ups",
  description:
    "Lists your top-ups of some days, or those with a `udf1`, oldest first, with their reversals. A page has at most 200.",
  parameters: { ...PERIOD_PARAMETERS, ...REFERENCE_PARAMETER },
  body: Type.Object(
    { ...listFields(OwnTopUpItem), from: dayOrNull("The first day"), to: dayOrNull("The last day") },
    { description: "A page of your top-ups." },
  ),
  example: {
    from: "2026-11-20",
    to: "2026-11-20",
    items: [
      {
        txnId: "01M7W2ZDG0PF6EHMJAC5TBSWNM",
        orderId: "EAGh-CGVwgAAAeyIBoAPrxmSBouxIqwQKGYz3QnbVdhiKp41U5jR4B545JFa1fM8",
        cuid: "1000001",
        service: "internet",
        reqId: "trial1",
        bouquetId: "TRIAL-NET-3M",
        amt: 3220,
        commission: 64.4,
        txnDate: "2026-11-20 09:00:00",
        status: "reversed",
        reversedAt: "2026-11-20 10:30:00",
        udf1: "INV-2041",
        udf2: null,
      },
    ],
    next: null,
  },
  async run(ports, caller, query) {
    const { engine, provider } = ports.store;
    const owner = { ...caller, list: "partner/top-ups" };
    const reading = await readPeriod<string, OwnDays | OwnReference>(ports, owner, query);
    if (!reading.ok) return reading;
    const { of, place } = reading.value;
    const { topUps, rest } = await readOwnTopUps(engine.db, provider.zone, caller, of, place);
    const value = {
      ...("udf1" in of ? { from: null, to: null } : of),
      items: topUps.map((topUp) => topUpItem(topUp, provider.currencyExponent)),
      next: rest === undefined ? null : await writeCursor(ports, owner, { of, place: rest }),
    };
    return { ok: true, value };
  },
};

/** A top-up as its partner sees it. */
export function topUpItem(
  { transaction, reversed }: OwnTopUp,
  exponent: CurrencyExponent,
): Static<typeof OwnTopUpItem> {
  return {
    txnId: transaction.txnId,
    orderId: transaction.checkoutId,
    cuid: transaction.cuid,
    service: transaction.service,
    reqId: transaction.reqId,
    bouquetId: transaction.bouquetCode,
    amt: moneyToJson(transaction.amount, exponent),
    commission: moneyToJson(transaction.commission, exponent),
    txnDate: transaction.txnDate,
    status: transaction.status,
    reversedAt: reversed?.wall ?? null,
    udf1: transaction.udf1 ?? null,
    udf2: transaction.udf2 ?? null,
  };
}
