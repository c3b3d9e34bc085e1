import { type Static, Type } from "typebox";
import type { Service } from "../../domain/bouquet.ts";
import { dayAt, isoTime } from "../../domain/wall-time.ts";
import { AmountSchema, ENVIRONMENT, environmentOf, InstantSchema, orNull, ServiceSchema } from "../common.ts";
import { type Operation, operation } from "../operation.ts";
import { PARTNER, partnerIdOf } from "../partners/meant.ts";
import { refusedToday } from "../partners/refused.ts";
import { presenterOf } from "../transactions/presenter.ts";
import { MOST_DAYS, StatisticsCache } from "./cache.ts";
import { type Sum, sumOf } from "./sums.ts";

/* The overview of the console. */

const AS = { tag: "Overview", permission: "read" } as const;
/** Bouquets with a line of their own; the others share one. */
const MOST_BOUQUETS = 10;
const USUAL_DAYS = 30;

const SUM = { topUps: Type.Integer(), amount: AmountSchema };
const DAY = { ...SUM, reversals: Type.Integer(), reversed: AmountSchema };

const ShareSchema = Type.Object(
  {
    name: orNull(Type.String()),
    ...SUM,
    bouquet: Type.Optional(Type.String({ description: "Its code, of a bouquet." })),
    service: Type.Optional(ServiceSchema),
  },
  { title: "Share" },
);
const SumSchema = Type.Object(SUM, { title: "Sum" });

const StatisticsSchema = Type.Object(
  {
    until: InstantSchema,
    complete: Type.Boolean({ description: "False during the first seconds after a start." }),
    hours: Type.Array(Type.Object({ hour: Type.Integer(), ...SUM }), { description: "The 24 hours of today." }),
    days: Type.Array(Type.Object({ day: Type.String(), ...DAY }), {
      description: "The days of the period, oldest first.",
    }),
    total: Type.Object(DAY, { description: "Sum of the days." }),
    weekAgo: Type.Object(
      { today: SumSchema, yesterday: SumSchema, period: SumSchema, reversals: SumSchema },
      { description: "The same figures as of this time one week ago. `reversals` has their number and amount." },
    ),
    byService: Type.Array(ShareSchema),
    byPartner: Type.Array(ShareSchema),
    byBouquet: Type.Array(ShareSchema, {
      description: "The ten with the largest amounts; the others are summed as null.",
    }),
    refusedToday: Type.Object(SUM, {
      description: "Top-ups that balances or limits refused today: each checkoutId once, however often it was sent.",
    }),
    failures: Type.Array(Type.Object({ reason: Type.String(), count: Type.Integer() }), {
      description: "Refused calls of partners in the period, at most the last 30 days, by reason.",
    }),
  },
  { title: "Statistics" },
);

export const showStatistics = operation({
  ...AS,
  http: "GET /statistics",
  summary: "Show sums of today by hour and of a period",
  input: Type.Object({
    ...ENVIRONMENT,
    ...PARTNER,
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MOST_DAYS,
        description: `Length of the period in days, including today (default ${USUAL_DAYS}).`,
      }),
    ),
  }),
  answer: StatisticsSchema,
  async run(office, input) {
    const { store } = office;
    const statistics = office.single(StatisticsCache);
    const [environment, partnerId] = [await environmentOf(office, input), await partnerIdOf(office, input)];
    const request = { environment, partnerId, days: input.days ?? USUAL_DAYS };
    const sums = await statistics.answer(request);
    const { findBouquet, partnerNames, formatAmount } = await presenterOf(office, environment);
    const bouquetName = (service: Service, code: string) => {
      const name = findBouquet(service, code)?.name;
      return name === undefined ? code : `${name} (${code})`;
    };
    const refused = (await refusedToday(store.engine.db, dayAt(sums.until, store.provider.zone))).filter(
      (sum) => sum.environment === environment && (partnerId === undefined || sum.partnerId === partnerId),
    );
    const shown = ({ count, amount }: Sum) => ({ topUps: count, amount: formatAmount(amount) });
    const shownDay = (topUps: Sum, reversals: Sum) => {
      return { ...shown(topUps), reversals: reversals.count, reversed: formatAmount(reversals.amount) };
    };
    const shares = (parts: readonly (readonly [name: string, sum: Sum])[]): Static<typeof ShareSchema>[] =>
      parts.toSorted(([, a], [, b]) => byMoney(a, b)).map(([name, sum]) => ({ name, ...shown(sum) }));
    const bouquets = sums.byBouquet.toSorted(byMoney);
    const rest = bouquets.slice(MOST_BOUQUETS);
    return {
      until: isoTime(sums.until),
      complete: sums.isComplete,
      hours: sums.hours.map((sum, hour) => ({ hour, ...shown(sum) })),
      days: sums.days.map(({ day, topUps, reversals }) => ({ day, ...shownDay(topUps, reversals) })),
      total: shownDay(sumOf(sums.days.map((day) => day.topUps)), sumOf(sums.days.map((day) => day.reversals))),
      weekAgo: {
        today: shown(sums.weekAgo.today),
        yesterday: shown(sums.weekAgo.yesterday),
        period: shown(sums.weekAgo.period),
        reversals: shown(sums.weekAgo.reversals),
      },
      byService: shares([...sums.byService]),
      byPartner: shares([...sums.byPartner].map(([id, sum]) => [partnerNames.get(id) ?? String(id), sum])),
      byBouquet: [
        ...bouquets.slice(0, MOST_BOUQUETS).map(({ service, bouquetCode: bouquet, ...sum }) => {
          return { name: bouquetName(service, bouquet), ...shown(sum), bouquet, service };
        }),
        ...(rest.length === 0 ? [] : [{ name: null, ...shown(sumOf(rest)) }]),
      ],
      refusedToday: shown(sumOf(refused)),
      failures: [...(await statistics.failures(request))],
    };
  },
});

/** Compares for an order with most money first. */
function byMoney({ amount: a }: Sum, { amount: b }: Sum): number {
  return a === b ? 0 : a < b ? 1 : -1;
}

export const operations: readonly Operation[] = [showStatistics];
