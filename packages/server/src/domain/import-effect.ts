import { type Bouquet, bouquetKey, type Service } from "./bouquet.ts";
import type { Instant } from "./calendar.ts";
import type { ImportedChange } from "./customer-audit.ts";
import type { CustomerChange, PassedOver } from "./customer-import.ts";
import { type CurrencyExponent, formatMoney } from "./money.ts";

/** What an import does with one row, beside what is stored. */
export type EffectKind = "added" | "changed" | "unchanged";

/** What an import does with one customer, and in which parts. */
export interface CustomerEffect {
  readonly kind: EffectKind;
  readonly parts: readonly CustomerPart[];
  /** What the row says of subscriptions and is not taken; absent where all is. */
  readonly passedOver?: readonly PassedOver[];
  /** On how many of its subscriptions top-ups made here were laid, as not held by the row; absent where on none. */
  readonly laidOnTop?: number;
  /** When the last of the runs ends of which it takes time that was granted here; absent where it takes none. */
  readonly takesUntil?: Instant;
}

type CustomerPart = "profile" | "connections" | "subscriptions" | "codes";

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

export function effectOf({ customer, change }: ImportedChange): CustomerEffect {
  const parts: CustomerPart[] = [];
  if (change.changesProfile) parts.push("profile");
  if (change.changesConnections) parts.push("connections");
  if (change.entries.length > 0) parts.push("subscriptions");
  // Codes follow from the profile and the connections; by themselves they change only where those are as they were.
  if (parts.length === 0 && change.addedCodes.length + change.removedCodes.length > 0) parts.push("codes");
  const { passedOver, takesUntil } = change;
  const laidOnTop = change.entries.filter(hasTopUpsOnTop).length;
  const kind = customer === undefined ? "added" : parts.length > 0 ? "changed" : "unchanged";
  const effect = { kind, parts: kind === "added" ? [] : parts } as const;
  return {
    ...effect,
    ...(passedOver.length > 0 ? { passedOver } : {}),
    ...(laidOnTop > 0 ? { laidOnTop } : {}),
    ...(takesUntil === undefined ? {} : { takesUntil }),
  };
}

/** Of a run that another topupd has exported, the dates hold what lies on top. */
function hasTopUpsOnTop({ grant, subscription }: CustomerChange["entries"][number]): boolean {
  if (grant?.kind !== "statement" || grant.grantedEnd !== undefined) return false;
  const { months, days } = grant.onTop;
  return months > 0 || days > (subscription?.goodwillDays ?? 0);
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
