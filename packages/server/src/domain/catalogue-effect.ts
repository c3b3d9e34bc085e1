import { type Bouquet, bouquetKey, type Service } from "./bouquet.ts";
import { type CurrencyExponent, formatMoney } from "./money.ts";

/** A bouquet of one service that a new catalogue adds, changes or no longer has. */
export interface BouquetEffect {
  readonly kind: "added" | "changed" | "removed";
  readonly service: Service;
  readonly code: string;
  /** Of a changed one, what was and what is; as texts, amounts as decimals. */
  readonly fields: readonly { readonly field: string; readonly from: string; readonly to: string }[];
}

/** What a new catalogue is, beside the one before it. */
export interface CatalogueEffect {
  readonly bouquets: readonly BouquetEffect[];
  readonly unchanged: number;
  /** Whether those that stay come in another order, in which partners see them. */
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
    if (was === undefined) return [{ kind: "added", service, code, fields: [] }];
    const fields = differences(was, bouquet, exponent);
    return fields.length === 0 ? [] : [{ kind: "changed", service, code, fields }];
  });
  const removed = before
    .filter((bouquet) => !current.has(bouquetKey(bouquet)))
    .map(({ service, code }): BouquetEffect => ({ kind: "removed", service, code, fields: [] }));
  const stayed = after.map(bouquetKey).filter((key) => former.has(key));
  const stayedBefore = before.map(bouquetKey).filter((key) => current.has(key));
  return {
    bouquets: [...bouquets, ...removed],
    unchanged: after.length - bouquets.length,
    reorders: stayed.some((key, index) => key !== stayedBefore[index]),
  };
}

function differences(was: Bouquet, is: Bouquet, exponent: CurrencyExponent): BouquetEffect["fields"] {
  const describe = ({ name, price, segments, plan, addOn }: Bouquet) => [
    ["name", name],
    ["price", formatMoney(price, exponent)],
    ["segments", segments.length === 0 ? "all" : segments.join(", ")],
    ["plan", plan],
    ["add-on", addOn ? "yes" : "no"],
  ];
  const after = describe(is);
  return describe(was)
    .map(([field = "", from = ""], index) => ({ field, from, to: after[index]?.[1] ?? "" }))
    .filter(({ from, to }) => from !== to);
}
