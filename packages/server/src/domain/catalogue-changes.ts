import { type Bouquet, bouquetKey, type Service } from "./bouquet.ts";
import { type CurrencyExponent, formatMoneyInFull } from "./money.ts";

interface FieldChange {
  readonly field: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** A bouquet that a new catalogue adds, changes or removes. */
export interface BouquetEffect {
  readonly kind: "added" | "changed" | "removed";
  readonly service: Service;
  readonly code: string;
  /** Changed fields as texts, amounts as decimals. Of an added or removed bouquet: all fields. */
  readonly fields: readonly FieldChange[];
}

/** Differences between a new catalogue and the current one. */
interface CatalogueEffect {
  readonly bouquets: readonly BouquetEffect[];
  readonly unchanged: number;
  /** Whether the remaining bouquets have a new order, which partners see. */
  readonly reorders: boolean;
}

export function compareCatalogues(
  before: readonly Bouquet[],
  after: readonly Bouquet[],
  exponent: CurrencyExponent,
): CatalogueEffect {
  const former = new Map(before.map((bouquet) => [bouquetKey(bouquet), bouquet]));
  const current = new Set(after.map(bouquetKey));
  const bouquets = after.flatMap((bouquet): BouquetEffect[] => {
    const { service, code } = bouquet;
    const was = former.get(bouquetKey(bouquet));
    const fields = differences(was, bouquet, exponent);
    if (was === undefined) return [{ kind: "added", service, code, fields }];
    return fields.length === 0 ? [] : [{ kind: "changed", service, code, fields }];
  });
  const removed = before
    .filter((bouquet) => !current.has(bouquetKey(bouquet)))
    .map((bouquet): BouquetEffect => {
      const { service, code } = bouquet;
      return { kind: "removed", service, code, fields: differences(bouquet, undefined, exponent) };
    });
  const stayed = after.map(bouquetKey).filter((key) => former.has(key));
  const stayedBefore = before.map(bouquetKey).filter((key) => current.has(key));
  return {
    bouquets: [...bouquets, ...removed],
    unchanged: after.length - bouquets.length,
    reorders: stayed.some((key, index) => key !== stayedBefore[index]),
  };
}

/** The fields that differ. @param was,is undefined if the bouquet is not in that catalogue. */
function differences(was: Bouquet | undefined, is: Bouquet | undefined, exponent: CurrencyExponent): FieldChange[] {
  const [before, after] = [was, is].map((bouquet) => bouquet && fieldsOf(bouquet, exponent));
  return FIELDS.map((field) => ({ field, from: before?.[field] ?? null, to: after?.[field] ?? null })).filter(
    ({ from, to }) => from !== to,
  );
}

const FIELDS = ["name", "price", "period", "segments", "plan", "add-on"] as const;

function fieldsOf(
  { name, price, period: { months, days }, segments, plan, addOn }: Bouquet,
  exponent: CurrencyExponent,
): Record<(typeof FIELDS)[number], string> {
  const [number, unit] = months > 0 ? [months, "month"] : [days, "day"];
  return {
    name,
    price: formatMoneyInFull(price, exponent),
    period: `${number} ${unit}${number === 1 ? "" : "s"}`,
    segments: segments.length === 0 ? "all" : segments.join(", "),
    plan,
    "add-on": addOn ? "yes" : "no",
  };
}
