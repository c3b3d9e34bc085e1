import { SERVICES } from "../domain/bouquet.ts";
import { FieldReader, IDENTIFIER_MAX_LENGTH, type Reading } from "../domain/fields.ts";
import type { JsonObject } from "../domain/json.ts";
import type { CurrencyExponent } from "../domain/money.ts";
import type { PackagesRequest } from "../operations/list-packages.ts";
import type { TopUpRequest } from "../operations/top-up.ts";

/** The longest udf1 and udf2 (interface, section 8). */
const FREE_FIELD_MAX_LENGTH = 30;

/** Requests as the interface, section 4, lists their fields. Unknown fields are passed over. */
export function readLookUp(body: JsonObject): Reading<{ readonly code: string }> {
  const fields = new FieldReader(body);
  return fields.finish({ code: fields.text("code", { maxLength: IDENTIFIER_MAX_LENGTH, trim: true }) });
}

export function readPackagesRequest(body: JsonObject): Reading<PackagesRequest> {
  const fields = new FieldReader(body);
  return fields.finish(readConnection(fields));
}

/** @param freeFields whether udf1 and udf2 exist in this version. */
export function readTopUp(body: JsonObject, exponent: CurrencyExponent, freeFields: boolean): Reading<TopUpRequest> {
  const fields = new FieldReader(body);
  return fields.finish({
    ...readConnection(fields),
    checkoutId: fields.identifier("checkoutId"),
    bouquetId: fields.identifier("bouquetId"),
    amount: fields.money("amt", exponent),
    udf1: freeFields ? readFreeField(fields, "udf1") : undefined,
    udf2: freeFields ? readFreeField(fields, "udf2") : undefined,
  });
}

export function readTransactionQuery(body: JsonObject): Reading<{ readonly checkoutId: string }> {
  const fields = new FieldReader(body);
  return fields.finish({ checkoutId: fields.identifier("checkoutId") });
}

function readConnection(fields: FieldReader): PackagesRequest {
  return {
    cuid: fields.identifier("cuid"),
    service: fields.oneOf("service", SERVICES),
    reqId: fields.identifier("reqId"),
  };
}

function readFreeField(fields: FieldReader, name: string): string | undefined {
  return fields.optionalText(name, { maxLength: FREE_FIELD_MAX_LENGTH, mayBeEmpty: true });
}
