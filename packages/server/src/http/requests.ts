import { SERVICES } from "../domain/bouquet.ts";
import type { PackagesRequest } from "../services/partner/list-packages.ts";
import type { LookUpRequest } from "../services/partner/look-up-customer.ts";
import type { TransactionQuery } from "../services/partner/query-transaction.ts";
import type { TopUpRequest } from "../services/partner/top-up.ts";
import {
  choiceField,
  freeTextField,
  identifierField,
  moneyField,
  type RequestFields,
  requestForm,
  typedIdentifierField,
} from "./request-fields.ts";

/** Of udf1 and udf2, in characters (interface, section 4.3). */
const FREE_FIELD_MAX_LENGTH = 30;

/*
 * Requests as the interface, section 4, lists their fields.
 */

const CONNECTION: RequestFields<PackagesRequest> = {
  cuid: identifierField("cuid", "The customer id."),
  service: choiceField("service", SERVICES, "The service of the connection."),
  reqId: identifierField(
    "reqId",
    "The set-top box number of a tv connection, the username of an internet or iptv connection.",
  ),
};

const PURCHASE: RequestFields<TopUpRequest> = {
  ...CONNECTION,
  checkoutId: identifierField("checkoutId", "The checkoutId that came with the listing of this connection."),
  bouquetId: identifierField("bouquetId", "The code of a bouquet in that listing."),
  amount: moneyField(
    "amt",
    "The price of that bouquet: a plain decimal without sign, exponent, blanks or leading zeros, as a string or a number.",
  ),
};

export const LOOK_UP = requestForm<LookUpRequest>({
  code: typedIdentifierField(
    "code",
    "The customer's mobile number, customer id, set-top box number, or internet or IPTV username. Blanks around it do not matter.",
  ),
});

export const LISTING = requestForm<PackagesRequest>(CONNECTION);

/** A top-up before there were udf1 and udf2. */
export const TOP_UP_1_0_0 = requestForm<TopUpRequest>(PURCHASE);

export const TOP_UP = requestForm<TopUpRequest>({
  ...PURCHASE,
  udf1: freeField("udf1"),
  udf2: freeField("udf2"),
});

export const TRANSACTION_QUERY = requestForm<TransactionQuery>({
  checkoutId: identifierField("checkoutId", "The checkoutId of the top-up, which is also its orderId."),
});

function freeField(name: "udf1" | "udf2") {
  return freeTextField(
    name,
    FREE_FIELD_MAX_LENGTH,
    "A text of your own, such as an order number. It is kept with the top-up, and not given back.",
  );
}
