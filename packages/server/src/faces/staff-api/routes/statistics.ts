import { type Static, Type } from "typebox";
import { formatMoneyInFull, type Money } from "../../../domain/money.ts";
import { isoTime, isoTimeOrNull } from "../../../domain/wall-time.ts";
import {
  AmountSchema,
  ENVIRONMENT,
  environmentOf,
  InstantSchema,
  oneOf,
  orNull,
  PARTNER,
  partnerIdOf,
} from "../../../office/common.ts";
import { presenterOf } from "../../../office/transactions/presenter.ts";
import { findAttention } from "../../../services/staff/attention.ts";
import type { Sum } from "../../../services/staff/statistics.ts";
import { route } from "../route.ts";

/* What the overview shows. */

const TAG = "Overview";
/** The others are put together. */
const MOST_BOUQUETS = 10;

const SUM = { topUps: Type.Integer(), amount: AmountSchema };

export const ShareSchema = Type.Object({ name: orNull(Type.String()), ...SUM }, { title: "Share" });

export const StatisticsSchema = Type.Object(
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
      description: "Of partners' calls, by the reason on the wire.",
    }),
  },
  { title: "Statistics" },
);

export const AttentionItemSchema = Type.Object(
  {
    kind: oneOf(["held_back", "failed_deliveries", "target_behind", "token_ending", "recording_fails", "no_backup"]),
    count: orNull(Type.Integer()),
    subject: orNull(Type.String({ description: "Of which target, or whose token." })),
    at: orNull(InstantSchema),
  },
  { title: "AttentionItem" },
);

export const statisticsRoutes = [
  route({
    ...{ method: "GET", path: "/statistics", tag: TAG, permission: "read" },
    summary: "Sum up today by hour, and the last 30 days",
    query: Type.Object({ ...ENVIRONMENT, ...PARTNER }),
    answer: StatisticsSchema,
    async handle(ports, { query }) {
      const { store, statistics } = ports;
      const environment = await environmentOf(ports, query);
      const request = { environment, partnerId: await partnerIdOf(ports, query) };
      const sums = await statistics.answer(request);
      const { findBouquet, partnerNames } = await presenterOf(store, environment);
      const bouquetName = (service: (typeof sums.byBouquet)[number]["service"], code: string) => {
        const name = findBouquet(service, code)?.name;
        return name === undefined ? code : `${name} (${code})`;
      };
      const inFull = (amount: Money) => formatMoneyInFull(amount, store.provider.currencyExponent);
      const shown = ({ count, amount }: Sum) => ({ topUps: count, amount: inFull(amount) });
      const shares = (parts: readonly (readonly [name: string | null, sum: Sum])[]): Static<typeof ShareSchema>[] =>
        byMoney(parts).map(([name, sum]) => ({ name, ...shown(sum) }));
      const bouquets = byMoney(sums.byBouquet.map((sum) => [bouquetName(sum.service, sum.bouquetCode), sum] as const));
      const rest = bouquets.slice(MOST_BOUQUETS).map(([, sum]) => sum);
      return {
        ...{ until: isoTime(sums.until), complete: sums.isComplete },
        hours: sums.hours.map((sum, hour) => ({ hour, ...shown(sum) })),
        days: sums.days.map(({ day, topUps, reversals }) => {
          return { day, ...shown(topUps), reversals: reversals.count, reversed: inFull(reversals.amount) };
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
  }),
  route({
    ...{ method: "GET", path: "/attention", tag: TAG, permission: "read" },
    summary: "Tell what needs somebody's attention",
    query: Type.Object(ENVIRONMENT),
    answer: Type.Object({ items: Type.Array(AttentionItemSchema) }),
    async handle(ports, { query }) {
      const { recordingFailsSince } = ports.state;
      const request = { environment: await environmentOf(ports, query), recordingFailsSince };
      const items = await findAttention(ports, request);
      return {
        items: items.map(({ kind, count = null, subject = null, at }) => ({
          kind,
          count,
          subject,
          at: isoTimeOrNull(at),
        })),
      };
    },
  }),
];

function byMoney<Part extends readonly [string | null, Sum]>(parts: readonly Part[]): Part[] {
  return parts.toSorted(([, a], [, b]) => (a.amount === b.amount ? 0 : a.amount < b.amount ? 1 : -1));
}

function addUp(sums: readonly Sum[]): Sum {
  return sums.reduce((all, { count, amount }) => ({ count: all.count + count, amount: all.amount + amount }));
}
