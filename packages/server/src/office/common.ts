import { type TSchema, Type } from "typebox";
import { ALL_ROLES } from "../domain/authority.ts";
import { SERVICES } from "../domain/bouquet.ts";
import { ENVIRONMENTS, type Environment } from "../domain/customer.ts";
import { type CurrencyExponent, formatMoneyInFull, type Money, readMoney } from "../domain/money.ts";
import { NAME } from "../domain/names.ts";
import { Refused } from "../domain/refused.ts";
import type { Subscription } from "../domain/subscription.ts";
import { firstOfMonth, type Instant, lastOfMonth, readDay } from "../domain/wall-time.ts";
import { momentOf, type Ports, type ReadingPorts } from "../store/ports.ts";

/* Input and answers of many operations. A schema with a title becomes a component of the document: use each title once. */

/** A schema of some words. */
export const oneOf = <const Words extends readonly string[]>(words: Words, description?: string) =>
  Type.Unsafe<Words[number]>({ type: "string", enum: [...words], ...(description !== undefined && { description }) });

export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const InstantSchema = Type.String({
  description: "Instant in ISO 8601, in UTC.",
  examples: ["2026-11-20T09:00:00.000Z"],
});
const ISO_INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$/;

/** @returns undefined if the text is no instant in ISO 8601 with its zone. */
export function readIsoInstant(text: string): Instant | undefined {
  const at = ISO_INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

export const WallTimeSchema = Type.String({
  description: "Time of the provider's clock.",
  examples: ["2026-11-20 14:45:00"],
});
export const AmountSchema = Type.String({
  description: "Decimal with all digits of the currency.",
  examples: ["1130.00"],
});
/** Input of an amount, with a length that no amount reaches. */
export const amountInput = (description: string) => Type.String({ maxLength: 40, description });
/** Input of an amount that can be taken away. */
export const amountOrNone = (description: string) =>
  Type.Optional(amountInput(`${description}: an amount such as 5000.00, or none.`));

/** All digits of the currency; null for no amount. */
export function formatOrNull(amount: Money | undefined, exponent: CurrencyExponent): string | null {
  return amount === undefined ? null : formatMoneyInFull(amount, exponent);
}

/** @throws Refused */
export function readAmount({ store }: ReadingPorts, field: string, text: string, isSigned = false): Money {
  const { currencyExponent } = store.provider;
  const isNegative = isSigned && text.startsWith("-");
  const amount = readMoney(isNegative ? text.slice(1) : text, currencyExponent);
  if (amount === undefined)
    throw Refused.field(field, `must be a number such as 5000 or 5,000, with up to ${currencyExponent} decimals`);
  return isNegative ? -amount : amount;
}

/** Reads an amount that stays as `before` if it is not given. @returns undefined for `none`. @throws Refused */
export function readAmountOrNone(
  ports: ReadingPorts,
  field: string,
  text: string | undefined,
  before: Money | undefined,
  isSigned = false,
): Money | undefined {
  if (text === undefined) return before;
  return text === "none" ? undefined : readAmount(ports, field, text, isSigned);
}

export const EnvironmentSchema = oneOf(ENVIRONMENTS);
export const ServiceSchema = oneOf(SERVICES);
/** Corrections that a bulk change can make with a list. */
export const LIST_ACTIONS = ["goodwill", "block", "unblock"] as const;
export const BULK_ACTIONS = [...LIST_ACTIONS, "reverse_goodwill"] as const;
export const RoleSchema = oneOf(ALL_ROLES);

/** One page of a list. @param more fields of the whole list. */
export const pageOf = <Item extends TSchema, More extends Record<string, TSchema> = Record<never, never>>(
  item: Item,
  more: More = {} as More,
) =>
  Type.Object({
    items: Type.Array(item),
    cursor: orNull(Type.String({ description: "Cursor of the next page; null after the last page." })),
    ...more,
  });

/** Input of a page. */
export interface PageInput {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** Reads a page of a list. @param read reads up to `limit` items, one more than the page has: it shows another page. */
export async function readPage<Item>(
  input: PageInput,
  read: (limit: number) => Promise<readonly Item[]>,
  placeOf: (item: Item) => string | number,
) {
  const limit = limitOf(input);
  const found = await read(limit + 1);
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, cursor: found.length > limit && last !== undefined ? String(placeOf(last)) : null };
}

/** A short list as one page. */
export function onePage<Item>(items: readonly Item[]): { items: Item[]; cursor: string | null } {
  return { items: [...items], cursor: null };
}

const USUAL_LIMIT = 50;
export const MOST_ON_A_PAGE = 500;

/** Input for a page of a list. */
export const PAGE = {
  cursor: Type.Optional(
    Type.String({ maxLength: 500, description: "Cursor from the previous page; empty means the first page." }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_ON_A_PAGE,
      description: `Maximum number of items (default ${USUAL_LIMIT}).`,
    }),
  ),
};

export function limitOf({ limit }: PageInput): number {
  return limit ?? USUAL_LIMIT;
}

/** Reads a cursor that is a number. @throws Refused if it is not a number. */
export function numberCursor({ cursor }: PageInput): number | undefined {
  if (cursor === undefined) return undefined;
  if (/^[0-9]{1,15}$/.test(cursor)) return Number(cursor);
  throw Refused.field("cursor", "must be the cursor of a page");
}

/** A cursor made of texts. */
export function cursorOf(texts: readonly string[]): string {
  return Buffer.from(JSON.stringify(texts)).toString("base64url");
}

/** The texts of a cursor; undefined for the first page. @throws Refused if it is not a cursor of so many texts. */
export function textsOfCursor(cursor: string | undefined, count: number): string[] | undefined {
  if (cursor === undefined) return undefined;
  try {
    const texts = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown;
    if (Array.isArray(texts) && texts.length === count && texts.every((each) => typeof each === "string")) return texts;
  } catch {
    // The refusal below names the field.
  }
  throw Refused.field("cursor", "must be the cursor of a page");
}

/** A schema of a day. */
export const day = (description: string) =>
  Type.String({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", description, examples: ["2026-11-20"] });
const Day = day("A day of the provider's clock.");

/** Input for a span of days, including both. */
export const DAYS = { from: Type.Optional(Day), to: Type.Optional(Day) };
/** Input for a period: without days, this month. */
export const PERIOD = {
  from: Type.Optional(
    day("A day of the provider's clock (default: the first of the month of `to`, or of this month)."),
  ),
  to: Type.Optional(day("A day of the provider's clock (default: the last of the month of `from`).")),
};

type Days<Day> = Readonly<Record<"from" | "to", Day>>;
/** The days of {@link PERIOD}. @throws Refused */
export function periodOf(
  ports: ReadingPorts & Pick<Ports, "clock">,
  input: Partial<Days<string | undefined>>,
): Days<string> {
  daysOf(ports, input);
  const { from = firstOfMonth(input.to ?? momentOf(ports).wall.slice(0, 10)), to = lastOfMonth(from) } = input;
  return { from, to };
}

type Span<Time> = Readonly<Record<"from" | "until", Time>>;

/** Reads a span of days; `until` is the end of the last day. @throws Refused */
export function daysOf(ports: ReadingPorts, days: Days<string>): Span<Instant>;
export function daysOf(ports: ReadingPorts, days: Partial<Days<string | undefined>>): Span<Instant | undefined>;
export function daysOf(
  { store }: ReadingPorts,
  { from, to }: Partial<Days<string | undefined>>,
): Span<Instant | undefined> {
  const { zone } = store.provider;
  const read = (field: string, text: string | undefined) => {
    const day = text === undefined ? undefined : readDay(text, zone);
    if (text !== undefined && day === undefined) throw Refused.field(field, "must be a day such as 2026-11-20");
    return day;
  };
  if (from !== undefined && to !== undefined && from > to) throw Refused.field("to", "must not be before from");
  return { from: read("from", from)?.start, until: read("to", to)?.end };
}

/** Input that names an environment. */
export const ENVIRONMENT = {
  environment: Type.Optional(
    Type.Unsafe<Environment>({
      ...EnvironmentSchema,
      description: "Environment (default: production, or trial if there is no production catalogue).",
    }),
  ),
};

export async function environmentOf(
  { store, clock }: Pick<Ports, "store" | "clock">,
  { environment }: { readonly environment?: Environment | undefined } = {},
): Promise<Environment> {
  if (environment !== undefined) return environment;
  return (await store.currentCatalogue("production", clock())) === undefined ? "trial" : "production";
}

/** A new name of a partner, a person or a system. */
export const NameSchema = Type.String({
  pattern: NAME.source,
  "x-problem": "must have 1 to 64 characters, no blank at either end, and no blank but the space",
  description: "A name of up to 64 characters.",
});

/** The reason of a correction: one line, which lists show in full. */
export const ReasonSchema = Type.String({
  pattern: "^(?=.*\\S)(?:[^\\p{C}]|[\\u200c\\u200d]){1,200}$",
  "x-problem": "must be one line of 1 to 200 characters",
  description: "Reason in one line, for the audit trail.",
});

/** Input that asks for a preview of a change. */
export const PREVIEW = {
  preview: Type.Optional(Type.Boolean({ description: "Shows the effect and changes nothing." })),
};

export const FieldChangeSchema = Type.Object(
  { field: Type.String(), from: orNull(Type.String()), to: orNull(Type.String()) },
  { title: "FieldChange" },
);

/* Connections and their subscriptions, as operations name and answer them. */

/** A code of a customer or connection, without control characters: databases refuse some of them. */
export const CodeSchema = Type.String({ minLength: 1, maxLength: 64, pattern: "^\\P{Cc}+$" });

export const PlanSchema = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "^\\P{Cc}+$",
  description: "Plan, needed if the connection has several.",
});

export const RunSchema = Type.Object(
  { bouquetId: Type.String(), name: Type.String(), start: WallTimeSchema, end: WallTimeSchema },
  { title: "Run", description: "Subscription after an entry." },
);

/** A subscription in answers. */
export function runOf(subscription: Pick<Subscription, "bouquet" | "start" | "end"> | undefined) {
  if (subscription === undefined) return null;
  const { bouquet, start, end } = subscription;
  return { bouquetId: bouquet.code, name: bouquet.name, start, end };
}

/** The end before and after a change, for a terminal. @param what the change, if it must be named. */
export function runLines({ before, after }: Effect, what = ""): [name: string, value: string][] {
  const words = (run: Effect["before"]) => (run === null ? "none" : `ends ${run.end}`);
  return [
    [`before${what}`, words(before)],
    [`after${what}`, words(after)],
  ];
}

interface Effect {
  readonly before: { readonly end: string } | null;
  readonly after: { readonly end: string } | null;
}
