import { type Static, Type } from "typebox";
import type { Service } from "../../domain/bouquet.ts";
import { isoTime } from "../../domain/wall-time.ts";
import { AmountSchema, ENVIRONMENT, environmentOf, InstantSchema, orNull, PARTNER, partnerIdOf } from "../common.ts";
import { type Operation, operation } from "../operation.ts";
import { presenterOf } from "../transactions/presenter.ts";
import { listAttention } from "./attention.ts";
import type { Sum } from "./cache.ts";

/* What the overview of the console shows. */

const AS = { tag: "Overview", permission: "read" } as const;
/** The others are put together. */
const MOST_BOUQUETS = 10;

const SUM = { topUps: Type.Integer(), amount: AmountSchema };

const ShareSchema = Type.Object({ name: orNull(Type.String()), ...SUM }, { title: "Share" });

const StatisticsSchema = Type.Object(
  {
    until: InstantSchema,
    complete: Type.Boolean({ description: "False for some seconds after a start." }),
    hours: Type.Array(Type.Object({ hour: Type.Integer(), ...SUM }), { description: "Today's 24." }),
    days: Type.Array(Type.Object({ day: Type.String(), ...SUM, reversals: Type.Integer(), reversed: AmountSchema }), {
      description: "The last 30, oldest first.",
    }),
    byService: Type.Array(ShareSchema),
    byPartner: Type.Array(ShareSchema),
    byBouquet: Type.Array(ShareSchema, { description: "The ten with most money, and the rest as null." }),
    failures: Type.Array(Type.Object({ reason: Type.String(), count: Type.Integer() }), {
      description: "Refused calls of partners, by the reason on the wire.",
    }),
  },
  { title: "Statistics" },
);

export const showStatistics = operation({
  ...{ ...AS, http: "GET /statistics", summary: "Sum up today by hour, and the last 30 days" },
  input: Type.Object({ ...ENVIRONMENT, ...PARTNER }),
  answer: StatisticsSchema,
  async run(office, input) {
    const { store, statistics } = office;
    const environment = await environmentOf(office, input);
    const request = { environment, partnerId: await partnerIdOf(office, input) };
    const sums = await statistics.answer(request);
    const { findBouquet, partnerNames, formatAmount } = await presenterOf(store, environment);
    const bouquetName = (service: Service, code: string) => {
      const name = findBouquet(service, code)?.name;
      return name === undefined ? code : `${name} (${code})`;
    };
    const shown = ({ count, amount }: Sum) => ({ topUps: count, amount: formatAmount(amount) });
    const shares = (parts: readonly (readonly [name: string | null, sum: Sum])[]): Static<typeof ShareSchema>[] =>
      byMoney(parts).map(([name, sum]) => ({ name, ...shown(sum) }));
    const bouquets = byMoney(sums.byBouquet.map((sum) => [bouquetName(sum.service, sum.bouquetCode), sum] as const));
    const rest = bouquets.slice(MOST_BOUQUETS).map(([, sum]) => sum);
    return {
      until: isoTime(sums.until),
      complete: sums.isComplete,
      hours: sums.hours.map((sum, hour) => ({ hour, ...shown(sum) })),
      days: sums.days.map(({ day, topUps, reversals }) => {
        return { day, ...shown(topUps), reversals: reversals.count, reversed: formatAmount(reversals.amount) };
      }),
      byService: shares([...sums.byService]),
      byPartner: shares([...sums.byPartner].map(([id, sum]) => [partnerNames.get(id) ?? String(id), sum])),
      byBouquet: [
        ...shares(bouquets.slice(0, MOST_BOUQUETS)),
        ...(rest.length === 0 ? [] : [{ name: null, ...shown(addUp(rest)) }]),
      ],
      failures: [...(await statistics.failures(request))],
    };
  },
});

function byMoney<Part extends readonly [string | null, Sum]>(parts: readonly Part[]): Part[] {
  return parts.toSorted(([, a], [, b]) => (a.amount === b.amount ? 0 : a.amount < b.amount ? 1 : -1));
}

function addUp(sums: readonly Sum[]): Sum {
  return sums.reduce((all, { count, amount }) => ({ count: all.count + count, amount: all.amount + amount }));
}

export const operations: readonly Operation[] = [showStatistics, listAttention];
