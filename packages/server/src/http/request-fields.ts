import { type TSchema, Type } from "typebox";
import { FieldReader, IDENTIFIER_MAX_LENGTH, type Reading } from "../domain/fields.ts";
import type { JsonObject } from "../domain/json.ts";
import { type CurrencyExponent, MONEY_DIGITS, type Money } from "../domain/money.ts";

/*
 * A field of a request is described and read in one place: what the contract says of it and what is done to it cannot
 * part. The rules themselves are the domain's (FieldReader), which gathers every problem of a request.
 */

/** One field as it stands on the wire. */
export interface RequestField<Value> {
  /** On the wire. */
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: (exponent: CurrencyExponent) => TSchema;
  readonly read: (fields: FieldReader, exponent: CurrencyExponent) => Value;
}

/** The fields of a request, by the name that each has in the operation. */
export type RequestFields<Request> = { readonly [Name in keyof Request]: RequestField<Request[Name]> };

/** How a request of one operation is described and read. Unknown fields are passed over. */
export interface RequestForm<Request> {
  readonly schema: (exponent: CurrencyExponent) => TSchema;
  readonly read: (body: JsonObject, exponent: CurrencyExponent) => Reading<Request>;
}

/** Fields are read, and their problems told, in the order in which they stand here. */
export function requestForm<Request>(fields: RequestFields<Request>): RequestForm<Request> {
  const entries = Object.entries(fields) as [keyof Request, RequestField<Request[keyof Request]>][];
  return {
    schema: (exponent) =>
      Type.Object(
        Object.fromEntries(
          entries.map(([, { name, isRequired, schema }]) => [
            name,
            isRequired ? schema(exponent) : Type.Optional(schema(exponent)),
          ]),
        ),
      ),
    read(body, exponent) {
      const reader = new FieldReader(body);
      const request: Partial<Request> = {};
      for (const [key, field] of entries) request[key] = field.read(reader, exponent);
      return reader.finish(request as Request);
    },
  };
}

/** A string of 1 to 64 characters, compared exactly. */
export function identifierField(name: string, description: string): RequestField<string> {
  return {
    name,
    isRequired: true,
    schema: () => Type.String({ description, minLength: 1, maxLength: IDENTIFIER_MAX_LENGTH, pattern: visibleText() }),
    read: (fields) => fields.identifier(name),
  };
}

/** An identifier as people type it: blanks around it do not count, neither towards its length. */
export function typedIdentifierField(name: string, description: string): RequestField<string> {
  return {
    name,
    isRequired: true,
    schema: () => Type.String({ description, minLength: 1, pattern: visibleText(IDENTIFIER_MAX_LENGTH) }),
    read: (fields) => fields.text(name, { maxLength: IDENTIFIER_MAX_LENGTH, trim: true }),
  };
}

export function choiceField<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  description: string,
): RequestField<Choice> {
  return {
    name,
    isRequired: true,
    schema: () => Type.String({ description, enum: [...choices] }),
    read: (fields) => fields.oneOf(name, choices),
  };
}

/** A decimal in major units, as a JSON string or number (decisions, "Time, money, identifiers"). */
export function moneyField(name: string, description: string): RequestField<Money> {
  return {
    name,
    isRequired: true,
    schema: (exponent) =>
      Type.Union(
        [
          Type.String({ pattern: decimalText(exponent) }),
          Type.Number({ minimum: 0, exclusiveMaximum: 10 ** (MONEY_DIGITS - exponent) }),
        ],
        { description },
      ),
    read: (fields, exponent) => fields.money(name, exponent),
  };
}

/** A text of the partner's own, which may be empty or null. */
export function freeTextField(name: string, maxLength: number, description: string): RequestField<string | undefined> {
  return {
    name,
    isRequired: false,
    schema: () => Type.Unsafe({ type: ["string", "null"], description, maxLength, pattern: `^${PRINTABLE}*$` }),
    read: (fields) => fields.optionalText(name, { maxLength, mayBeEmpty: true }),
  };
}

/*
 * The same rules in JSON Schema's words, in regular expressions of the kind that most languages have; where a language
 * counts fewer characters as blanks, they let a little more through. What they cannot say, such as that a number has
 * no exponent, the descriptions do.
 */

const PRINTABLE = "[^\\x00-\\x1f\\x7f-\\x9f]";
const VISIBLE = "[^\\s\\x00-\\x1f\\x7f-\\x9f]";

/**
 * Something to see, and no control characters.
 * @param maxLength of the text without the blanks around it; undefined where those are a part of it.
 */
function visibleText(maxLength?: number): string {
  if (maxLength === undefined) return `^${PRINTABLE}*${VISIBLE}${PRINTABLE}*$`;
  return `^\\s*${VISIBLE}(?:${PRINTABLE}{0,${maxLength - 2}}${VISIBLE})?\\s*$`;
}

function decimalText(exponent: CurrencyExponent): string {
  const units = `(?:0|[1-9][0-9]{0,${MONEY_DIGITS - exponent - 1}})`;
  return exponent === 0 ? `^${units}$` : `^${units}(?:\\.[0-9]{1,${exponent}})?$`;
}
