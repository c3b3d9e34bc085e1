import type { Environment } from "../../domain/customer.ts";
import type { CustomerEffect } from "../../domain/customer-audit.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { GoodwillReading } from "../../domain/ledger.ts";
import { momentOf } from "../../store/ports.ts";
import type { FileRules } from "../../store/store.ts";
import type { Decider } from "../office.ts";
import { Refused } from "../refused.ts";
import { customerRowReader } from "./rows.ts";

export interface CustomerImport {
  readonly environment: Environment;
  /** A row of a customers file. */
  readonly row: JsonObject;
  /** Default if the row has none. */
  readonly asOf?: string | undefined;
  /** Default if the row has none. */
  readonly goodwill?: GoodwillReading | undefined;
  /** Records of more than 35 days ago are meant. */
  readonly oldRecords?: boolean;
  /** The row may shorten paid subscriptions. */
  readonly allowShorter?: boolean;
}

/**
 * Writes one row of a customers file over what is stored of its customer, as {@link importCustomers} does with many.
 * @throws Refused if the row or its moment is bad.
 */
export async function importCustomer(of: Decider, request: CustomerImport): Promise<CustomerEffect> {
  const { store, by } = of;
  const { environment, row, allowShorter = false } = request;
  const reading = (await customerRowReader(of, request))({ line: 1, value: { ok: true, value: row } });
  if (!reading.ok) throw new Refused("invalid", "", reading.problems);
  const now = momentOf(of);
  const { cuid } = reading.value.stated;
  const rules: FileRules = { now, mode: "import", toleranceDays: 1, allowShorter: new Set(allowShorter ? [cuid] : []) };
  const [effect] = of.isPreview
    ? await store.previewCustomers(environment, [reading.value], rules)
    : await store.importCustomers(environment, [reading.value], { ...by, at: now.instant }, rules);
  if (effect === undefined) throw new Error("a row was settled, and nothing is said of it");
  return effect;
}
