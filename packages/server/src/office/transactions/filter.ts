import type { Static } from "typebox";
import { type Money, parseMoney } from "../../domain/money.ts";
import { daysOf, environmentOf, partnerIdOf } from "../common.ts";
import { MOST_CANDIDATES } from "../customers/find.ts";
import { findCuidsByName } from "../customers/sql.ts";
import type { Office } from "../office.ts";
import { Refused } from "../refused.ts";
import type { FilterSchema } from "./schemas.ts";
import type { TransactionFilter } from "./sql.ts";

/** One filter, or with a name one for each customer of that name. @throws Refused */
export async function filtersOf(office: Office, input: Static<typeof FilterSchema>): Promise<TransactionFilter[]> {
  const { service, cuid, name, reqId, bouquet: bouquetCode, status, udf1, udf2 } = input;
  const environment = await environmentOf(office, input);
  const amount = amountOf(office, input.amount);
  const partnerId = await partnerIdOf(office, input);
  const said = { environment, partnerId, service, cuid, reqId, bouquetCode, status, amount, udf1, udf2 };
  const filter = { ...said, ...daysOf(office, input) };
  if (name === undefined) return [filter];
  if (cuid !== undefined) throw Refused.field("name", "cannot be given with a cuid");
  const cuids = await findCuidsByName(office.store.engine.db, environment, name, MOST_CANDIDATES);
  if (cuids.length === 0) throw new Refused("not_found", `no ${environment} customer has the name ${name}`);
  if (cuids.length < MOST_CANDIDATES) return cuids.map((each) => ({ ...filter, cuid: each }));
  throw new Refused("conflict", (naming) => {
    const most = `${MOST_CANDIDATES} customers or more have the name ${name}`;
    return `${most}: give more of the name, or one customer with ${naming("cuid")}`;
  });
}

/** @throws Refused */
export function amountOf({ store }: Office, given: string | undefined): Money | undefined {
  const { currencyExponent } = store.provider;
  const amount = given === undefined ? undefined : parseMoney(given, currencyExponent);
  if (given !== undefined && amount === undefined)
    throw Refused.field("amount", `must be a plain number of up to ${currencyExponent} decimals`);
  return amount;
}
