import { Type } from "typebox";
import type { SaleSums } from "../../domain/account.ts";
import type { Service } from "../../domain/bouquet.ts";
import { dayAt, isoTime } from "../../domain/wall-time.ts";
import { AmountSchema, ENVIRONMENT, environmentOf, InstantSchema, orNull, ServiceSchema } from "../common.ts";
import { type Operation, operation } from "../operation.ts";
import { PARTNER, partnerIdOf } from "../partners/meant.ts";
import { refusedToday } from "../partners/refused.ts";
import { presenterOf } from "../transactions/presenter.ts";
import { MOST_DAYS, StatisticsReader, sumBy, sumOf } from "./statistics.ts";

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
    hours: Type.Array(Type.Object({ hour: Type.Integer(), ...SUM }), { description: "The 24 hours of today." }),
    days: Type.Array(Type.Object({ day: Type.String(), ...DAY }), {
      description: "The days of the period, oldest first.",
    }),
    total: Type.Object(DAY, { description: "Sum of the days." }),
    weekAgo: Type.Object(
      { today: SumSchema, yesterday: SumSchema, period: SumSchema, reversals: SumSchema },
      {
        description:
          "The same figures before this minute of the day one week ago. `reversals` has their number and amount.",
      },
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
  isReport: true,
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
    const reader = office.single(StatisticsReader);
    const [environment, partnerId] = [await environmentOf(office, input), await partnerIdOf(office, input)];
    const request = { environment, partnerId, days: input.days ?? USUAL_DAYS };
    const { until, hours, days, weekAgo, byPartner, byBouquet } = await reader.answer(request);
    const { findBouquet, partnerNames, formatAmount } = await presenterOf(office, environment);
    const bouquetName = (service: Service, code: string) => {
      const name = findBouquet(service, code)?.name;
      return name === undefined ? code : `${name} (${code})`;
    };
    const refused = (await refusedToday(store.engine.db, dayAt(until, store.provider.zone))).filter(
      (sum) => sum.environment === environment && (partnerId === undefined || sum.partnerId === partnerId),
    );
    const shown = ({ topUps, gross }: Pick<SaleSums, "topUps" | "gross">) => ({ topUps, amount: formatAmount(gross) });
    const shownDay = ({ reversals, reversed, ...sums }: SaleSums) => {
      return { ...shown(sums), reversals, reversed: formatAmount(reversed) };
    };
    const shares = <Part extends SaleSums>(parts: readonly Part[], nameOf: (part: Part) => string) =>
      parts.toSorted(byMoney).map((part) => ({ name: nameOf(part), ...shown(part) }));
    const bouquets = byBouquet.toSorted(byMoney);
    const rest = bouquets.slice(MOST_BOUQUETS);
    return {
      until: isoTime(until),
      hours: hours.map((sums, hour) => ({ hour, ...shown(sums) })),
      days: days.map(({ day, ...sums }) => ({ day, ...shownDay(sums) })),
      total: shownDay(sumOf(days)),
      weekAgo: {
        today: shown(weekAgo.today),
        yesterday: shown(weekAgo.yesterday),
        period: shown(weekAgo.period),
        reversals: shown({ topUps: weekAgo.period.reversals, gross: weekAgo.period.reversed }),
      },
      byService: shares([...sumBy(byBouquet, ({ service }) => service).values()], ({ service }) => service),
      byPartner: shares(byPartner, ({ partnerId: id }) => partnerNames.get(id) ?? String(id)),
      byBouquet: [
        ...bouquets.slice(0, MOST_BOUQUETS).map(({ service, bouquetCode: bouquet, ...sums }) => {
          return { name: bouquetName(service, bouquet), ...shown(sums), bouquet, service };
        }),
        ...(rest.length === 0 ? [] : [{ name: null, ...shown(sumOf(rest)) }]),
      ],
      refusedToday: {
        topUps: refused.reduce((sum, { count }) => sum + count, 0),
        amount: formatAmount(refused.reduce((sum, { amount }) => sum + amount, 0n)),
      },
      failures: [...(await reader.failures(request))],
    };
  },
});

/** Compares for an order with most money first. */
function byMoney({ gross: a }: SaleSums, { gross: b }: SaleSums): number {
  return a === b ? 0 : a < b ? 1 : -1;
}

export const operations: readonly Operation[] = [showStatistics];
