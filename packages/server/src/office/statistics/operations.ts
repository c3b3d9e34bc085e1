import { type Static, Type } from "typebox";
import type { Service } from "../../domain/bouquet.ts";
import { DAY_MS, isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import { openAlerts } from "../alerts/sql.ts";
import { AmountSchema, ENVIRONMENT, environmentOf, InstantSchema, oneOf, orNull, ServiceSchema } from "../common.ts";
import { countHeldBack } from "../imports/runs.ts";
import { lastBackupAt, lastCheckAt } from "../maintenance/backups.ts";
import { type Operation, operation } from "../operation.ts";
import { PARTNER, partnerIdOf } from "../partners/meant.ts";
import { tokenState } from "../partners/presenter.ts";
import { readLastUses, readTokens } from "../partners/sql.ts";
import { countWaiting } from "../second-person.ts";
import { statusesOf } from "../targets/presenter.ts";
import { presenterOf } from "../transactions/presenter.ts";
import { MOST_DAYS, StatisticsCache } from "./cache.ts";
import type { Sum } from "./sums.ts";

/** Events that are older than this and not delivered need attention: a target usually gets an event within seconds. */
const BEHIND_AFTER_MS = 60 * 60_000;
/** A token needs attention if it ends within this time and was used within the same time before. */
const ENDING_WITHIN_MS = 14 * DAY_MS;
const BACKUP_EVERY_MS = 2 * DAY_MS;
const CHECK_EVERY_MS = 7 * DAY_MS;
const MIB = 1024 * 1024;
const LEAST_FREE_MIB = 2 * 1024;
const MOST_LOG_MIB = 1024;
/** Seconds that 1 % of answers may take. Fewer answers than this number say nothing. */
const SLOW_SECONDS = 1;
const FEWEST_ANSWERS = 20;

const KINDS = [
  "held_back",
  "second_person",
  "failed_deliveries",
  "target_behind",
  "token_ending",
  "account_low",
  "limit_reached",
  "look_ups_refused",
  "recording_fails",
  "no_backup",
  "no_check",
  "clock_set_back",
  "disk_low",
  "log_large",
  "restarts",
  "slow",
] as const;

const ALERTS = {
  "account.low": "account_low",
  "limit.reached": "limit_reached",
  "look_ups.refused": "look_ups_refused",
} as const;

const AttentionItemSchema = Type.Object(
  {
    kind: oneOf(KINDS),
    count: orNull(Type.Integer({ description: "MiB for `disk_low` and `log_large`, milliseconds for `slow`." })),
    subject: orNull(Type.String({ description: "The target, the partner, or the slow operation." })),
    limit: orNull(Type.String({ description: "The limit of `limit_reached`." })),
    at: orNull(Type.String({ description: "Start of the problem; for a token, its end." })),
  },
  { title: "AttentionItem" },
);
type AttentionItem = Static<typeof AttentionItemSchema>;

export const listAttention = operation({
  tag: "Overview",
  permission: "read",
  http: "GET /attention",
  summary: "List problems that need attention, most urgent first",
  input: Type.Object(ENVIRONMENT),
  answer: Type.Object({ items: Type.Array(AttentionItemSchema) }),
  async run(office, input) {
    const { store, clock } = office;
    const { recordingFailsSince, clockSetBackFrom, figures } = office.state;
    const environment = await environmentOf(office, input);
    const now = clock();
    const items: AttentionItem[] = [];
    const add = (kind: AttentionItem["kind"], item: Partial<AttentionItem>) =>
      items.push({ kind, count: null, subject: null, limit: null, at: null, ...item });
    if (recordingFailsSince !== undefined) add("recording_fails", { at: isoTime(recordingFailsSince) });
    if (clockSetBackFrom !== undefined) add("clock_set_back", { at: isoTime(clockSetBackFrom) });
    const { free = Infinity, log = 0 } = await store.space();
    if (free < LEAST_FREE_MIB * MIB) add("disk_low", { count: Math.floor(free / MIB) });
    if (log > MOST_LOG_MIB * MIB) add("log_large", { count: Math.floor(log / MIB) });
    if (figures !== undefined && figures.restarts > 0) add("restarts", { count: figures.restarts });
    for (const { operation: subject, count, p99 } of figures?.answers ?? [])
      if (count >= FEWEST_ANSWERS && p99 > SLOW_SECONDS) add("slow", { count: Math.round(p99 * 1_000), subject });
    for (const { target, progress } of await statusesOf(store.engine.db)) {
      const { setAside, behind, failing, oldestAt } = progress;
      const subject = target.name;
      if (setAside > 0) add("failed_deliveries", { count: setAside, subject });
      if (behind + failing > 0 && oldestAt !== undefined && oldestAt < now - BEHIND_AFTER_MS)
        add("target_behind", { count: behind + failing, subject, at: isoTime(oldestAt) });
    }
    const heldBack = await countHeldBack(store.engine.db, environment);
    if (heldBack > 0) add("held_back", { count: heldBack });
    const waiting = await countWaiting(store.engine.db, environment, now);
    if (waiting > 0) add("second_person", { count: waiting });
    for (const { kind, partner: subject, limit = null, at } of await openAlerts(store.engine.db, now, environment))
      add(ALERTS[kind], { subject, limit, at: isoTime(at) });
    // Trial tokens end every week. A database without a production catalogue needs no backup.
    const uses = await readLastUses(store.engine.db);
    for (const token of await readTokens(store.engine.db)) {
      const { id, expiresAt, partner } = token;
      const isInUse = tokenState(token, now) === "valid" && (uses.get(id) ?? 0) >= now - ENDING_WITHIN_MS;
      const isEnding = expiresAt !== undefined && expiresAt < now + ENDING_WITHIN_MS;
      if (token.environment === "production" && isInUse && isEnding)
        add("token_ending", { subject: partner.name, at: isoTime(expiresAt) });
    }
    if ((await store.currentCatalogue("production")) === undefined) return { items };
    const [backedUpAt, checkedAt] = [await lastBackupAt(store.engine.db), await lastCheckAt(store.engine.db)];
    if ((backedUpAt ?? 0) < now - BACKUP_EVERY_MS) add("no_backup", { at: isoTimeOrNull(backedUpAt) });
    if ((checkedAt ?? 0) < now - CHECK_EVERY_MS) add("no_check", { at: isoTimeOrNull(checkedAt) });
    return { items };
  },
});

/* The overview of the console. */

const AS = { tag: "Overview", permission: "read" } as const;
/** Bouquets with a line of their own; the others share one. */
const MOST_BOUQUETS = 10;
const USUAL_DAYS = 30;

const SUM = { topUps: Type.Integer(), amount: AmountSchema };

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
    days: Type.Array(Type.Object({ day: Type.String(), ...SUM, reversals: Type.Integer(), reversed: AmountSchema }), {
      description: "The days of the period, oldest first.",
    }),
    weekAgo: Type.Object(
      { today: SumSchema, yesterday: SumSchema, period: SumSchema, reversals: SumSchema },
      { description: "The same figures as of this time one week ago. `reversals` has their number and amount." },
    ),
    byService: Type.Array(ShareSchema),
    byPartner: Type.Array(ShareSchema),
    byBouquet: Type.Array(ShareSchema, {
      description: "The ten with the largest amounts; the others are summed as null.",
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
    const environment = await environmentOf(office, input);
    const request = { environment, partnerId: await partnerIdOf(office, input), days: input.days ?? USUAL_DAYS };
    const sums = await statistics.answer(request);
    const { findBouquet, partnerNames, formatAmount } = await presenterOf(store, environment);
    const bouquetName = (service: Service, code: string) => {
      const name = findBouquet(service, code)?.name;
      return name === undefined ? code : `${name} (${code})`;
    };
    const shown = ({ count, amount }: Sum) => ({ topUps: count, amount: formatAmount(amount) });
    const shares = (parts: readonly (readonly [name: string, sum: Sum])[]): Static<typeof ShareSchema>[] =>
      parts.toSorted(([, a], [, b]) => byMoney(a, b)).map(([name, sum]) => ({ name, ...shown(sum) }));
    const bouquets = sums.byBouquet.toSorted(byMoney);
    const rest = bouquets.slice(MOST_BOUQUETS);
    return {
      until: isoTime(sums.until),
      complete: sums.isComplete,
      hours: sums.hours.map((sum, hour) => ({ hour, ...shown(sum) })),
      days: sums.days.map(({ day, topUps, reversals }) => {
        return { day, ...shown(topUps), reversals: reversals.count, reversed: formatAmount(reversals.amount) };
      }),
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
        ...(rest.length === 0 ? [] : [{ name: null, ...shown(addUp(rest)) }]),
      ],
      failures: [...(await statistics.failures(request))],
    };
  },
});

/** Compares for an order with most money first. */
function byMoney({ amount: a }: Sum, { amount: b }: Sum): number {
  return a === b ? 0 : a < b ? 1 : -1;
}

function addUp(sums: readonly Sum[]): Sum {
  return sums.reduce((all, { count, amount }) => ({ count: all.count + count, amount: all.amount + amount }));
}

export const operations: readonly Operation[] = [showStatistics, listAttention];
