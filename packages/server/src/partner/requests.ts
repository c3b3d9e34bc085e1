import { type TSchema, Type } from "typebox";
import { SERVICES } from "../domain/bouquet.ts";
import { FieldReader, IDENTIFIER_MAX_LENGTH, type Reading } from "../domain/fields.ts";
import type { JsonObject } from "../domain/json.ts";
import { type CurrencyExponent, MONEY_DIGITS } from "../domain/money.ts";
import type { LookUpRequest, PackagesRequest } from "./customers.ts";
import type { TopUpRequest, TransactionQuery } from "./top-ups.ts";

/*
 * The fields of requests. Each field is described and read in one place, so that contract and code agree. The domain's
 * FieldReader has the rules. JSON Schema states them in portable regular expressions, and in descriptions for the rest.
 */

/** One field on the wire. */
interface RequestField<Value> {
  readonly name: string;
  readonly schema: (exponent: CurrencyExponent) => TSchema;
  readonly read: (fields: FieldReader, exponent: CurrencyExponent) => Value;
}

/** The fields of a request, by their names in the code. */
type RequestFields<Request> = { readonly [Name in keyof Request]: RequestField<Request[Name]> };

/** Describes and reads the request of one operation. Unknown fields are ignored. */
export interface RequestForm<Request> {
  readonly schema: (exponent: CurrencyExponent) => TSchema;
  readonly read: (body: JsonObject, exponent: CurrencyExponent) => Reading<Request>;
}

const PRINTABLE = "[^\\x00-\\x1f\\x7f-\\x9f]";
const VISIBLE = "[^\\s\\x00-\\x1f\\x7f-\\x9f]";
/** At least one visible character, and no control characters. */
const VISIBLE_TEXT = `^${PRINTABLE}*${VISIBLE}${PRINTABLE}*$`;
/** The same. Blanks around the text do not count towards its length. */
const TYPED_TEXT = `^\\s*${VISIBLE}(?:${PRINTABLE}{0,${IDENTIFIER_MAX_LENGTH - 2}}${VISIBLE})?\\s*$`;
/** Length of udf1 and udf2 in characters. */
export const FREE_FIELD_MAX_LENGTH = 30;

const CONNECTION: RequestFields<PackagesRequest> = {
  cuid: identifierField("cuid", "The customer id."),
  service: {
    name: "service",
    schema: () => Type.String({ description: "The service of the connection.", enum: [...SERVICES] }),
    read: (fields) => fields.oneOf("service", SERVICES),
  },
  reqId: identifierField(
    "reqId",
    "The set-top box number of a tv connection, the username of an internet or iptv connection.",
  ),
};

/** A decimal in major units, as a JSON string or number (docs/decisions.md, Money). */
const AMOUNT: RequestFields<TopUpRequest>["amount"] = {
  name: "amt",
  schema: (exponent) =>
    Type.Union(
      [
        Type.String({ pattern: decimalText(exponent) }),
        Type.Number({ minimum: 0, exclusiveMaximum: 10 ** (MONEY_DIGITS - exponent) }),
      ],
      {
        description:
          "The price of that bouquet: a plain decimal without sign, exponent, blanks or leading zeros, as a string or a number.",
      },
    ),
  read: (fields, exponent) => fields.money("amt", exponent),
};

const PURCHASE: RequestFields<TopUpRequest> = {
  ...CONNECTION,
  checkoutId: identifierField("checkoutId", "The checkoutId that came with the listing of this connection."),
  bouquetCode: identifierField("bouquetId", "The code of a bouquet in that listing."),
  amount: AMOUNT,
};

export const LOOK_UP = requestForm<LookUpRequest>({
  code: {
    name: "code",
    schema: () => {
      const description =
        "The customer's mobile number, customer id, set-top box number, or internet or IPTV username. Blanks around it do not matter.";
      return Type.String({ description, minLength: 1, pattern: TYPED_TEXT });
    },
    read: (fields) => fields.text("code", { maxLength: IDENTIFIER_MAX_LENGTH, trim: true, takesInteger: true }),
  },
});

export const LISTING = requestForm<PackagesRequest>(CONNECTION);

/** The request of v1.0.0, without udf1 and udf2. */
export const TOP_UP_1_0_0 = requestForm<TopUpRequest>(PURCHASE);

export const TOP_UP = requestForm<TopUpRequest>({ ...PURCHASE, udf1: freeField("udf1"), udf2: freeField("udf2") });

export const TRANSACTION_QUERY = requestForm<TransactionQuery>({
  checkoutId: identifierField("checkoutId", "The checkoutId of the top-up, which is also its orderId."),
});

/** Fields are read, and their problems listed, in this order. */
function requestForm<Request>(fields: RequestFields<Request>): RequestForm<Request> {
  const entries = Object.entries(fields) as [keyof Request, RequestField<Request[keyof Request]>][];
  return {
    schema: (exponent) =>
      Type.Object(Object.fromEntries(entries.map(([, each]) => [each.name, each.schema(exponent)]))),
    read(body, exponent) {
      const reader = new FieldReader(body);
      const request: Partial<Request> = {};
      for (const [key, field] of entries) request[key] = field.read(reader, exponent);
      return reader.finish(request as Request);
    },
  };
}

function identifierField(name: string, description: string): RequestField<string> {
  return {
    name,
    schema: () => Type.String({ description, minLength: 1, maxLength: IDENTIFIER_MAX_LENGTH, pattern: VISIBLE_TEXT }),
    read: (fields) => fields.identifier(name),
  };
}

/** A text of the partner; may be empty or null. */
function freeField(name: "udf1" | "udf2"): RequestField<string | undefined> {
  const text = {
    type: ["string", "null"],
    description: "A text of your own, such as an order number. Only the report of top-ups gives it back.",
    maxLength: FREE_FIELD_MAX_LENGTH,
    pattern: `^${PRINTABLE}*$`,
  };
  return {
    name,
    schema: () => Type.Optional(Type.Unsafe(text)),
    read: (fields) =>
      fields.optionalText(name, { maxLength: FREE_FIELD_MAX_LENGTH, mayBeEmpty: true, takesInteger: true }),
  };
}

function decimalText(exponent: CurrencyExponent): string {
  const units = `(?:0|[1-9][0-9]{0,${MONEY_DIGITS - exponent - 1}})`;
  return exponent === 0 ? `^${units}$` : `^${units}(?:\\.[0-9]{1,${exponent}})?$`;
}
