import fc from "fast-check";
import { expect, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import type { Environment } from "../../src/domain/customer.ts";
import { formatMoneyInFull } from "../../src/domain/money.ts";
import type { Transaction } from "../../src/domain/transaction.ts";
import { dayBefore, plus, type WallTime } from "../../src/domain/wall-time.ts";
import { setCommission } from "../../src/office/accounts/commission.ts";
import { showStatement } from "../../src/office/accounts/statement.ts";
import { reportSettlement } from "../../src/office/settlement/operations.ts";
import { type Statistics, StatisticsReader, type StatisticsRequest } from "../../src/office/statistics/statistics.ts";
import { sumBalance } from "../../src/store/account-sums.ts";
import { RUNS } from "../domain/builders.ts";
import { by } from "../support/by.ts";
import { publish } from "../support/catalogue.ts";
import { run } from "../support/desk.ts";
import { partnersOf } from "../support/partners.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import {
  BOUQUETS,
  expectRecorded,
  fileRules,
  moment,
  openProvider,
  SITA,
  SITA_NET,
  SITA_TV,
  statedCustomer,
} from "./provider.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const SHARED_MS = 3_000;

/** Zones with half hours and with changes of the clock, and a time shortly before a change. */
const ZONES = [
  ["Asia/Kathmandu", "2026-11-20T18:00:00Z"],
  ["Europe/Berlin", "2027-10-30T21:00:00Z"],
  ["America/St_Johns", "2027-03-14T02:00:00Z"],
] as const;

const SALES = [
  [SITA_NET, "NET-1M"],
  [SITA_NET, "NET-3M"],
  [SITA_TV, "TV-1M"],
] as const;

/** A top-up in the model. `reversed`: the time of its reversal. */
interface Sold {
  readonly topUp: Transaction;
  reversed?: WallTime;
}

/** Each step moves the clock first. */
const steps = fc.array(
  fc.record({
    ms: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 20 * MINUTE }) },
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 5 * HOUR }) },
      { weight: 2, arbitrary: fc.constantFrom(DAY, 6 * DAY, 7 * DAY) },
      { weight: 2, arbitrary: fc.integer({ min: -2 * HOUR, max: -1 }) },
      { weight: 1, arbitrary: fc.constantFrom(-DAY, -7 * DAY, 40 * DAY, -40 * DAY) },
    ),
    sale: fc.constantFrom(...SALES),
    partner: fc.nat({ max: 1 }),
    environment: fc.constantFrom<Environment>("production", "production", "trial"),
    reverses: fc.option(fc.nat(), { freq: 3 }),
    days: fc.constantFrom(1, 2, 8, 30, 90),
    ofOne: fc.boolean(),
  }),
  { minLength: 12, maxLength: 20 },
);

export function testStatistics(makeDatabase: MakeDatabase): void {
  test.each(ZONES)(
    "every report is the plain sum of its top-ups and reversals, as clocks jump, in %s",
    async (timeZone, start) => {
      const scene = await openScene(makeDatabase, timeZone);
      const { opened, partners, reader, sold } = scene;
      opened.now = Date.parse(start);
      const history = fc.asyncProperty(steps, async (taken) => {
        for (const { ms, sale, partner, environment, reverses, days, ofOne } of taken) {
          opened.now += ms;
          await scene.topUp(sale, partners[partner] as Partner, environment);
          if (reverses !== null) await scene.reverse(reverses);
          opened.now += SHARED_MS;
          const partnerId = ofOne ? partners[partner]?.id : undefined;
          const request = { environment, partnerId, days };
          const told = await reader.answer(request);
          expect(readable(told)).toEqual(
            plainStatistics(sold, request, opened.store.provider.zone.wallTime(opened.now)),
          );
          const [today] = told.days.slice(-1);
          expect(told.hours.reduce((sum, { gross }) => sum + gross, 0n)).toBe(today?.gross);
        }
      });
      await fc.assert(history, { ...RUNS, numRuns: 3, endOnFailure: true });
      for (const partner of partners) await scene.expectPaper(partner);
      expect(await findWrong(opened.store)).toEqual([]);
    },
  );

  test("hours are read once, and a sum beyond what a number can hold is exact", async () => {
    const { opened, reader, ...scene } = await openScene(makeDatabase, "UTC");
    const request = { environment: "production", partnerId: undefined, days: 1 } as const;
    for (let count = 0; count < 12; count += 1) {
      opened.now += SECOND;
      await scene.topUp(SALES[0], opened.partner, "production");
    }
    const most = 10n ** 15n - 1n;
    await opened.database.tamper(`UPDATE top_up SET amount = ${most}`);
    const hours = async (after: number) => {
      opened.now += after;
      return (await reader.answer(request)).hours
        .filter(({ topUps }) => topUps > 0)
        .map(({ topUps, gross }) => [topUps, gross]);
    };
    expect(await hours(HOUR)).toEqual([[12, 12n * most]]);
    await opened.database.tamper("UPDATE top_up SET amount = 5");
    expect(await hours(HOUR)).toEqual([[12, 12n * most]]);
    // A top-up in an hour that was read: the clock was ahead.
    opened.now -= 2 * HOUR;
    await scene.topUp(SALES[0], opened.partner, "production");
    expect(await hours(2 * HOUR + MINUTE)).toEqual([[13, 12n * 5n + 113_000n]]);
  });
}

/** Two partners, one with a commission, in both environments. */
async function openScene(makeDatabase: MakeDatabase, timeZone: string) {
  const opened = await openProvider(makeDatabase, { timeZone });
  const { store } = opened;
  const bank = (await partnersOf(store).add("bank", by(opened.now))) as Partner;
  await run(opened.desk(), setCommission, { name: "bank", percent: "2.5" });
  const trial = await publish(store, "trial", BOUQUETS, by(opened.now));
  const stated = [{ stated: statedCustomer(SITA), asOf: moment(store, opened.now) }];
  await store.importCustomers("trial", stated, by(opened.now), fileRules(store, opened.now));
  const reader = new StatisticsReader({ store, clock: () => opened.now });
  const sold: Sold[] = [];
  return {
    ...{ opened, reader, sold, partners: [opened.partner, bank] },
    async topUp([connection, code]: (typeof SALES)[number], { id: partnerId }: Partner, environment: Environment) {
      const of = { ...connection, environment };
      const quoted = opened.quote(of, { partnerId, ...(environment === "trial" && { revision: trial.revision }) });
      const command = opened.command(of, code, { ...quoted, partnerId });
      sold.push({ topUp: expectRecorded(await store.settleTopUp(command)) });
    },
    /** Reverses one of the last top-ups that still can be. */
    async reverse(place: number) {
      const open = sold.filter(({ reversed }) => reversed === undefined).slice(-5);
      const meant = open[place % open.length] as Sold;
      await opened.reverse(meant.topUp.txnId);
      meant.reversed = store.provider.zone.wallTime(opened.now);
    },
    /** Holds settlements, statements and balances of a partner against plain sums. */
    async expectPaper({ id: partnerId, name }: Partner) {
      const inFull = (amount: bigint) => formatMoneyInFull(amount, store.provider.currencyExponent);
      for (const environment of ["production", "trial"] as const) {
        const own = sold.filter(({ topUp }) => topUp.partnerId === partnerId && topUp.environment === environment);
        const owed = (some: readonly Sold[], isIn: (wall: WallTime) => boolean) => {
          const charge = ({ topUp }: Sold) => topUp.amount - topUp.commission;
          const [made, back] = [
            some.filter(({ topUp }) => isIn(topUp.txnDate)),
            some.filter((each) => isIn(each.reversed ?? "~")),
          ];
          return (
            made.reduce((sum, each) => sum + charge(each), 0n) - back.reduce((sum, each) => sum + charge(each), 0n)
          );
        };
        expect(await sumBalance(store.engine.db, { partnerId, environment })).toBe(-owed(own, (wall) => wall !== "~"));
        for (const month of new Set(own.map(({ topUp }) => topUp.txnDate.slice(0, 7)))) {
          const { from, to, closing, lines } = await run(opened.desk(), showStatement, { name, environment, month });
          expect(closing).toBe(inFull(-owed(own, (wall) => wall <= `${to}~`)));
          const isIn = (wall: WallTime) => wall.startsWith(month);
          const plain = plainSums(own, isIn);
          expect(lines.slice(0, 3).map(({ count, amount }) => [count, amount])).toMatchObject([
            [plain.topUps, inFull(-plain.gross)],
            [null, expect.anything()],
            [plain.reversals, inFull(plain.reversed)],
          ]);
          const { total } = await run(opened.desk(), reportSettlement, { from, to, environment, partner: name });
          const { topUps, reversals } = plain;
          expect(total).toMatchObject({
            topUps,
            reversals,
            gross: inFull(plain.gross),
            reversed: inFull(plain.reversed),
            net: inFull(owed(own, isIn)),
          });
        }
      }
    },
  };
}

/** Plain sums of top-ups and reversals at some times. */
function plainSums(sold: readonly Sold[], isIn: (wall: WallTime) => boolean) {
  const made = sold.filter(({ topUp }) => isIn(topUp.txnDate));
  const back = sold.filter(({ reversed }) => reversed !== undefined && isIn(reversed));
  const sum = (some: readonly Sold[]) => some.reduce((total, { topUp }) => total + topUp.amount, 0n);
  return { topUps: made.length, gross: sum(made), reversals: back.length, reversed: sum(back) };
}

function plainStatistics(
  all: readonly Sold[],
  { environment, partnerId, days: length }: StatisticsRequest,
  wall: WallTime,
) {
  const sold = all.filter(
    ({ topUp }) => topUp.environment === environment && (partnerId ?? topUp.partnerId) === topUp.partnerId,
  );
  const today = wall.slice(0, 10);
  const days = [today];
  while (days.length < length) days.unshift(dayBefore(days[0] as string));
  const minute = plus(wall, { months: 0, days: -7 }).slice(0, 16);
  const first = plus(`${days[0]} 00:00:00`, { months: 0, days: -7 });
  const [thatDay, now] = [minute.slice(0, 10), (isIn: (wall: WallTime) => boolean) => plainSums(sold, isIn)];
  const inPeriod = sold.filter(({ topUp }) => topUp.txnDate >= (days[0] as string) && topUp.txnDate <= `${today}~`);
  const shares = (nameOf: (topUp: Transaction) => string) =>
    Object.fromEntries(
      [...new Set(inPeriod.map(({ topUp }) => nameOf(topUp)))].map((name) => {
        const { topUps, gross } = plainSums(
          inPeriod.filter(({ topUp }) => nameOf(topUp) === name),
          () => true,
        );
        return [name, [topUps, gross]];
      }),
    );
  const topUpsOf = ({ topUps, gross }: ReturnType<typeof plainSums>) => [topUps, gross];
  return {
    hours: Array.from({ length: 24 }, (_, hour) =>
      topUpsOf(now((at) => at.startsWith(`${today} ${String(hour).padStart(2, "0")}`))),
    ),
    days: days.map((day) => ({ day, ...now((at) => at.startsWith(day)) })),
    weekAgo: {
      today: now((at) => at.startsWith(thatDay) && at < minute),
      yesterday: now((at) => at.startsWith(dayBefore(thatDay))),
      period: now((at) => at >= first && at < minute),
    },
    byPartner: shares((topUp) => String(topUp.partnerId)),
    byBouquet: shares((topUp) => `${topUp.service} ${topUp.bouquetCode}`),
  };
}

/** The same of an answer. */
function readable({ hours, days, weekAgo, byPartner, byBouquet }: Statistics) {
  const sums = ({ topUps, gross, reversals, reversed }: Statistics["hours"][number]) => ({
    topUps,
    gross,
    reversals,
    reversed,
  });
  const pair = ({ topUps, gross }: Statistics["hours"][number]) => [topUps, gross];
  return {
    hours: hours.map(pair),
    days: days.map(({ day, ...of }) => ({ day, ...sums(of) })),
    weekAgo: { today: sums(weekAgo.today), yesterday: sums(weekAgo.yesterday), period: sums(weekAgo.period) },
    byPartner: Object.fromEntries(byPartner.map((sold) => [sold.partnerId, pair(sold)])),
    byBouquet: Object.fromEntries(byBouquet.map((sold) => [`${sold.service} ${sold.bouquetCode}`, pair(sold)])),
  };
}
