import { type Bouquet, bouquetKey, type Service } from "./bouquet.ts";
import { type CurrencyExponent, formatMoneyInFull } from "./money.ts";

/** Largest part of a price that changes without a warning, in percent. */
const MOST_CHANGED = 50n;

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
  /** Sentences about prices that are probably not meant, and about changes that affect earlier top-ups. */
  readonly warnings: readonly string[];
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
    warnings: [
      ...bouquets.flatMap(reachWarning),
      ...after.flatMap((bouquet) => changeWarning(former.get(bouquetKey(bouquet)), bouquet, exponent)),
      ...periodWarnings(after, new Set(bouquets.map(bouquetKey)), exponent),
    ],
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

/** A change of plan or kind also affects earlier top-ups. */
function reachWarning({ kind, service, code, fields }: BouquetEffect): string[] {
  const changed = fields.find(({ field }) => field === "plan" || field === "add-on");
  if (kind !== "changed" || changed === undefined) return [];
  const words =
    changed.field === "plan"
      ? `is of another plan now: to keep renewals of bought subscriptions together, give it the plan ${JSON.stringify(changed.from)}`
      : "is an add-on now, or none any more: to leave bought subscriptions as they are, give it another plan";
  return [`${service} ${code} ${words}`];
}

function changeWarning(was: Bouquet | undefined, { service, code, price }: Bouquet, exponent: CurrencyExponent) {
  if (was === undefined) return [];
  const difference = price > was.price ? price - was.price : was.price - price;
  if (difference * 100n <= was.price * MOST_CHANGED) return [];
  const [from, to] = [was.price, price].map((each) => formatMoneyInFull(each, exponent));
  return [`${service} ${code} changes its price by more than ${MOST_CHANGED} %, from ${from} to ${to}`];
}

/** Warns if a customer pays more for less time of a plan. @param changed keys of the bouquets to judge. */
function periodWarnings(
  bouquets: readonly Bouquet[],
  changed: ReadonlySet<string>,
  exponent: CurrencyExponent,
): string[] {
  const plans = new Map<string, Bouquet[]>();
  for (const bouquet of bouquets) {
    const key = `${bouquet.service} ${bouquet.plan}`;
    plans.set(key, [...(plans.get(key) ?? []), bouquet]);
  }
  const words = (bouquet: Bouquet) => {
    const { price, period } = fieldsOf(bouquet, exponent);
    return `${bouquet.code} costs ${price} for ${period}`;
  };
  return [...plans.values()].flatMap((plan) =>
    plan.flatMap((short) => {
      const long = plan.find(
        (each) =>
          (changed.has(bouquetKey(each)) || changed.has(bouquetKey(short))) &&
          lengthOf(short) < lengthOf(each) &&
          short.price > each.price &&
          hasCommonSegment(short, each),
      );
      return long === undefined ? [] : [`${short.service} ${words(short)}, but ${words(long)} of the same plan`];
    }),
  );
}

/** Length in twelfths of a day: 12 months are as long as 365 days. */
const lengthOf = ({ period: { months, days } }: Bouquet) => months * 365 + days * 12;

function hasCommonSegment({ segments: some }: Bouquet, { segments: others }: Bouquet): boolean {
  return some.length === 0 || others.length === 0 || some.some((each) => others.includes(each));
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
