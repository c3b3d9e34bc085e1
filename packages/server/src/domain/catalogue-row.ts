import { type Bouquet, readBouquetName, SERVICES } from "./bouquet.ts";
import { FieldReader, NAME_MAX_LENGTH, type Reading } from "./fields.ts";
import type { JsonObject } from "./json.ts";
import type { CurrencyExponent } from "./money.ts";

/** Far more than any provider sells; it bounds what an import and every listing hold in memory. */
export const CATALOGUE_MAX_BOUQUETS = 10_000;

/**
 * Reads one row of a catalogue file:
 * `{"service", "code", "name", "price", "segments"?, "plan"?}`.
 * Source: decisions, "Time, money, identifiers" and "Bouquets, subscriptions and the renewal rule".
 */
export function readCatalogueRow(row: JsonObject, exponent: CurrencyExponent): Reading<Bouquet> {
  const fields = new FieldReader(row);
  const service = fields.oneOf("service", SERVICES);
  const code = fields.identifier("code");
  const name = fields.text("name", { maxLength: NAME_MAX_LENGTH });
  const price = fields.money("price", exponent);
  const segments = fields.identifiers("segments");
  const plan = fields.optionalText("plan", { maxLength: NAME_MAX_LENGTH });
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

/** The rows of one catalogue. Each is held against those before it, so that every bad line gets its reason. */
export class CatalogueRows {
  readonly bouquets: Bouquet[] = [];
  readonly #codes = new Set<string>();
  readonly #addOnByPlan = new Map<string, boolean>();

  add(bouquet: Bouquet): Reading<Bouquet> {
    const fields = new FieldReader({});
    const code = `${bouquet.service}:${bouquet.code}`;
    const plan = `${bouquet.service}:${bouquet.plan}`;
    if (this.bouquets.length >= CATALOGUE_MAX_BOUQUETS) {
      fields.problem("(line)", `is beyond the ${CATALOGUE_MAX_BOUQUETS} bouquets that a catalogue may have`);
    }
    if (this.#codes.has(code)) fields.problem("code", "stands on an earlier line already");
    if ((this.#addOnByPlan.get(plan) ?? bouquet.addOn) !== bouquet.addOn) {
      fields.problem("plan", "holds both a base bouquet and an add-on");
    }
    const reading = fields.finish(bouquet);
    if (reading.ok) {
      this.#codes.add(code);
      this.#addOnByPlan.set(plan, bouquet.addOn);
      this.bouquets.push(bouquet);
    }
    return reading;
  }
}
