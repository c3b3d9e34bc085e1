import { type Static, Type } from "typebox";
import { ACCOUNT_ENTRY_KINDS, type AccountEntry } from "../../domain/account.ts";
import { type CurrencyExponent, type Money, moneyToJson } from "../../domain/money.ts";
import { dayBefore } from "../../domain/wall-time.ts";
import { type EntryPlace, readEntries } from "../../store/account-entries.ts";
import { timestamp } from "../versions/v1_0_1.ts";
import { PERIOD_PARAMETERS, readPeriod, writeCursor } from "./period.ts";
import { listFields, money, orNull } from "./schemas.ts";
import type { Report } from "./shape.ts";

const ofSale = (description: string) => orNull(Type.Number(), `${description} Null for other entries.`);
const textOrNull = (description: string) => orNull(Type.String(), description);

export const OwnEntry = Type.Object(
  {
    at: timestamp("When it was made."),
    kind: Type.String({ enum: [...ACCOUNT_ENTRY_KINDS], description: "Your provider makes the first three." }),
    amount: money("The effect on the balance, such as -1107.40 for a top-up."),
    balance: money("The balance after it."),
    reference: textOrNull("The provider's reference; null for top-ups and reversals."),
    txnId: textOrNull("The top-up; null for other entries."),
    orderId: textOrNull("The checkoutId of the top-up; null for other entries."),
    gross: ofSale("The price of the top-up, in major units."),
    commission: ofSale("What you keep, or give back with a reversal, in major units."),
  },
  { title: "AccountEntry", description: "An entry of your account." },
);

const EntriesBody = Type.Object(
  { ...listFields(OwnEntry), opening: money("The balance before the first item.") },
  { description: "A page of your account." },
);

/** The place after a page, with the balance there, so that the next page need not sum up earlier days again. */
interface Place {
  readonly balance: string;
  readonly after: EntryPlace;
}

export const ENTRIES: Report = {
  name: "partner/account/entries",
  operationId: "listAccountEntries",
  summary: "List the entries of your account",
  description:
    "Lists deposits, withdrawals, adjustments, top-ups and reversals of some days, oldest first, each with the balance after it. A page has at most 200.",
  parameters: PERIOD_PARAMETERS,
  body: EntriesBody,
  example: {
    from: "2026-11-20",
    to: "2026-11-20",
    items: [
      {
        at: "2026-11-20 09:00:00",
        kind: "deposit",
        amount: 5000,
        balance: 5000,
        reference: "bank 4711",
        txnId: null,
        orderId: null,
        gross: null,
        commission: null,
      },
      {
        at: "2026-11-20 09:05:00",
        kind: "top_up",
        amount: -1107.4,
        balance: 3892.6,
        reference: null,
        txnId: "01M7W2ZDG0PF6EHMJAC5TBSWNM",
        orderId: "EAGh-CGVwgAAAeyIBoAPrxmSBouxIqwQKGYz3QnbVdhiKp41U5jR4B545JFa1fM8",
        gross: 1130,
        commission: 22.6,
      },
    ],
    next: null,
    opening: 0,
  },
  async run(ports, caller, query) {
    const { engine, provider } = ports.store;
    const owner = { ...caller, list: "partner/account/entries" };
    const reading = await readPeriod<Place>(ports, owner, query);
    if (!reading.ok) return reading;
    const { of: days, place } = reading.value;
    const opening = place === undefined ? await ports.sumBalance(caller, dayBefore(days.from)) : BigInt(place.balance);
    const { entries, rest } = await readEntries(
      engine.db,
      provider.zone,
      caller,
      days,
      place && { after: place.after },
    );
    let balance = opening;
    const items = entries.map((entry) => {
      balance += entry.amount;
      return entryItem(entry, balance, provider.currencyExponent);
    });
    const next = rest && { of: days, place: { balance: String(balance), after: rest } satisfies Place };
    const value: Static<typeof EntriesBody> = {
      ...days,
      items,
      next: next === undefined ? null : await writeCursor(ports, owner, next),
      opening: moneyToJson(opening, provider.currencyExponent),
    };
    return { ok: true, value };
  },
};

/** An entry as its partner sees it. @param balance after it. */
export function entryItem(entry: AccountEntry, balance: Money, exponent: CurrencyExponent): Static<typeof OwnEntry> {
  const sale = "of" in entry ? entry.of : undefined;
  return {
    at: entry.wall,
    kind: entry.kind,
    amount: moneyToJson(entry.amount, exponent),
    balance: moneyToJson(balance, exponent),
    reference: "of" in entry ? null : entry.reference,
    txnId: sale?.txnId ?? null,
    orderId: sale?.checkoutId ?? null,
    gross: sale === undefined ? null : moneyToJson(sale.amount, exponent),
    commission: sale === undefined ? null : moneyToJson(sale.commission, exponent),
  };
}
