import { type Bouquet, bouquetKey, readBouquetName, SERVICES, type Service } from "./bouquet.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import type { JsonObject } from "./json.ts";
import { type CurrencyExponent, formatMoney } from "./money.ts";

/** Far more than any provider sells; it bounds what an import and every listing hold in memory. */
export const CATALOGUE_MAX_BOUQUETS = 10_000;

/**
 * Reads one row of a catalogue file:
 * `{"service", "code", "name", "price", "segments"?, "plan"?, "retired"?}`.
 * Source: decisions, "Time, money, identifiers" and "Bouquets, subscriptions and the renewal rule".
 */
export function readCatalogueRow(row: JsonObject, exponent: CurrencyExponent): Reading<Bouquet> {
  const fields = new FieldReader(row);
  const service = fields.oneOf("service", SERVICES);
  const code = fields.statedIdentifier("code");
  const name = fields.text("name", { maxLength: NAME_MAX_LENGTH });
  const price = fields.money("price", exponent);
  const segments = fields.statedIdentifiers("segments");
  const plan = fields.optionalText("plan", { maxLength: NAME_MAX_LENGTH });
  fields.flag("retired");
  fields.refuseOthers();

  const fromName = name === "" ? undefined : readBouquetName(name);
  if (typeof fromName === "string") fields.problem("name", fromName);
  const reading = fields.finish(undefined);
  if (!reading.ok) return reading;
  if (price === 0n) fields.problem("price", "must be more than zero");
  const { period, addOn, plan: planFromName } = fromName as Exclude<typeof fromName, string | undefined>;
  if (planFromName === "" && plan === undefined) fields.problem("name", "must hold more than a period");
  return fields.finish({ service, code, name, price, segments, plan: plan ?? planFromName, addOn, period });
}

/** Whether a row only tells what a code means that customers may still have, and that is not sold any more. */
export function isRetired(row: JsonObject): boolean {
  return row["retired"] === true;
}

/** One row of a catalogue file, in the order in which its fields are written. */
export interface CatalogueRow {
  readonly service: Service;
  readonly code: string;
  readonly name: string;
  readonly price: string;
  readonly segments?: readonly string[];
  readonly plan: string;
  readonly retired?: true;
}

/** The row that {@link readCatalogueRow} reads as this very bouquet. */
export function catalogueRow(bouquet: Bouquet, exponent: CurrencyExponent): CatalogueRow {
  const { service, code, name, price, segments, plan } = bouquet;
  const some = segments.length === 0 ? {} : { segments };
  return { service, code, name, price: formatMoney(price, exponent), ...some, plan };
}

/** The rows of one catalogue. Each is held against those before it, so that every bad line gets its reason. */
export class CatalogueRows {
  readonly bouquets: Bouquet[] = [];
  /** Those that are not sold. A plan may have held others in its time, so nothing holds them against each other. */
  readonly retired: Bouquet[] = [];
  readonly #codes = new Set<string>();
  readonly #addOnByPlan = new Map<string, boolean>();

  add(bouquet: Bouquet, retired = false): Reading<Bouquet> {
    const fields = new FieldReader({});
    const code = bouquetKey(bouquet);
    const plan = `${bouquet.service}:${bouquet.plan}`;
    const list = retired ? this.retired : this.bouquets;
    if (list.length >= CATALOGUE_MAX_BOUQUETS) {
      fields.problem("(line)", `is beyond the ${CATALOGUE_MAX_BOUQUETS} bouquets that a catalogue may have`);
    }
    if (this.#codes.has(code)) fields.problem("code", "stands on an earlier line already");
    if (!retired && (this.#addOnByPlan.get(plan) ?? bouquet.addOn) !== bouquet.addOn) {
      fields.problem("plan", "holds both a base bouquet and an add-on");
    }
    const reading = fields.finish(bouquet);
    if (reading.ok) {
      this.#codes.add(code);
      if (!retired) this.#addOnByPlan.set(plan, bouquet.addOn);
      list.push(bouquet);
    }
    return reading;
  }
}
