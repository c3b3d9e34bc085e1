import { expect, onTestFinished, test } from "vitest";
import type { Partner } from "../../src/domain/access-token.ts";
import { type CheckoutHolder, issueCheckout, openCheckout } from "../../src/domain/checkout.ts";
import { readCustomerRow, type StatedCustomer } from "../../src/domain/customer-row.ts";
import { readDay } from "../../src/domain/day-range.ts";
import { formatTransactionId } from "../../src/domain/transaction-id.ts";
import type { Store } from "../../src/store/store.ts";
import { asJson } from "../domain/builders.ts";
import { AFTER, BEFORE } from "../domain/two-rules.ts";
import { by } from "../support/by.ts";
import { seededRandom } from "../support/random.ts";
import { findWrong, type MakeDatabase, openStore } from "./database.ts";
import { archiveOf, collect } from "./filled-provider.ts";
import { BOUQUETS, expectRecorded, SITA_NET } from "./provider.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Half an hour before midnight by the rules of before, and after it by the others. */
const LATE = Date.parse("2026-06-30T03:30:00Z");
/** From where the rules agree to within the stretch in which they differ. */
const RUN = { startdate: "2026-01-01 00:00:00", enddate: "2026-07-01 00:00:00" };

export function testZoneRules(makeDatabase: MakeDatabase): void {
  test("what was granted by rules that the zone had then is no fault, and it is said that they have changed", async () => {
    const { store } = await openChanged(makeDatabase);
    expect(await findWrong(store)).toEqual([]);
    expect(await told(store)).toContainEqual(
      expect.stringMatching(/^rules of America\/Asuncion have changed, last known since 2026-07-02T03:30:00/),
    );
  });

  test("nothing is said of rules that were always the same", async () => {
    const { store } = await openBefore(makeDatabase);
    expect((await told(store)).filter((what) => what.includes("rules of"))).toEqual([]);
  });

  test("an end that was moved by an hour is found, unless the zone may have had both", async () => {
    const shift = (hours: number) => `UPDATE subscription SET end_at = end_at + ${hours * HOUR}`;
    const before = await openBefore(makeDatabase);
    await before.database.tamper(shift(1));
    expect(await findWrong(before.store)).toContainEqual(expect.stringMatching(/is not the fold of its grants/));

    const { store, database } = await openChanged(makeDatabase);
    await database.tamper(shift(1));
    expect(await findWrong(store)).toEqual([]);
    expect(await told(store)).toContainEqual(expect.stringMatching(/where another Node.js had other rules/));
    await database.tamper(shift(1));
    expect(await findWrong(store)).toContainEqual(expect.stringMatching(/is not the fold of its grants/));
  });

  test("a copy has it all as it is on record, and so has one that is made of it", async () => {
    const { store, now } = await openChanged(makeDatabase);
    const copy = await openStore(makeDatabase, { timeZone: AFTER, clock: () => now + DAY });
    await copy.store.importArchive(chunksOf(await collect(store)));
    expect(await archiveOf(copy.store)).toEqual(await archiveOf(store));
    const again = await copy.another();
    expect(await findWrong(again)).toEqual([]);
    expect(await subscriptionOf(again)).toEqual(await subscriptionOf(store));
    expect(again.provider.calendar.record).toEqual(store.provider.calendar.record);
  });

  test("an archive that was made by the rules of before is taken by those of after", async () => {
    const { database, store } = await openBefore(makeDatabase);
    await database.tamper(RENAMED);
    const archive = await collect(store);
    const copy = await openStore(makeDatabase, { timeZone: AFTER, clock: () => LATE + 2 * DAY });
    await copy.store.importArchive(chunksOf(archive));
    expect(await findWrong(await copy.another())).toEqual([]);
    expect(await subscriptionOf(copy.store)).toEqual(await subscriptionOf(store));
  });

  test("a day that is over keeps its top-ups and their times", async () => {
    const { store, transaction } = await openChanged(makeDatabase);
    const { calendar } = store.provider;
    expect(calendar.format(transaction.at)).toBe("2026-06-29 23:30:00");
    const count = async (day: string) => {
      const { start, end } = readDay(day, calendar) as NonNullable<ReturnType<typeof readDay>>;
      const within = { environment: "production", from: start, until: end, partnerId: undefined } as const;
      const sums = await store.search.sumTopUps(within);
      return sums.reduce((sum, each) => sum + each.count, 0);
    };
    expect([await count("2026-06-29"), await count("2026-06-30")]).toEqual([1, 0]);
  });

  test("the night's file tells nothing new, and what is topped up next is counted by the rules of now", async () => {
    const { store, now, topUp } = await openChanged(makeDatabase);
    const before = await subscriptionOf(store);
    for (const mode of ["apart", "included", "unsaid"] as const) {
      const effects = await store.importCustomers("production", [stated(store)], by(now), mode);
      expect(effects).toMatchObject([{ kind: "unchanged" }]);
    }
    expect(await subscriptionOf(store)).toEqual(before);
    expectRecorded(await topUp(store, now));
    expect(await findWrong(store)).toEqual([]);
  });

  test("rules are noted once, however often the database is opened by them", async () => {
    const { reopen, database } = await openChanged(makeDatabase);
    await (await reopen()).close();
    await (await reopen()).close();
    expect(await database.read("SELECT since FROM zone_rules")).toHaveLength(2);
  });

  test("rules that cannot be noted now hold all the same, and are noted later", async () => {
    const { database, store: before } = await openBefore(makeDatabase);
    await before.close();
    await database.tamper(RENAMED);
    const [row] = (await database.read("SELECT rules FROM zone_rules")) as [{ rules: string }];
    await database.tamper("CREATE UNIQUE INDEX refusing_news ON zone_rules (time_zone)");
    const store = await database.open({ clock: () => LATE + DAY, random: seededRandom(2), timeZone: AFTER });
    onTestFinished(() => store.close());
    expect(store.provider.calendar.record).toHaveLength(2);
    expect(await findWrong(store)).toEqual([expect.stringMatching(/tables or triggers are not those/)]);
    expect(await database.read("SELECT rules FROM zone_rules")).toEqual([row]);
    await database.tamper("DROP INDEX refusing_news");
    await (await database.open({ clock: () => LATE + 2 * DAY, random: seededRandom(2), timeZone: AFTER })).close();
    expect(await database.read("SELECT since FROM zone_rules")).toHaveLength(2);
  });

  test("rules that cannot be read are refused", async () => {
    const { reopen, database } = await openChanged(makeDatabase);
    await database.tamper("UPDATE zone_rules SET rules = '[[0]]'");
    await expect(reopen()).rejects.toThrow(/cannot be read \(table zone_rules\)/);
  });
}

/** As though the zone that the database is of had had the rules that another one has. */
const RENAMED = `UPDATE zone_rules SET time_zone = '${AFTER}'; UPDATE provider SET time_zone = '${AFTER}'`;

/** A customer whose month was imported and topped up with three, late on the 29th of June. */
async function openBefore(makeDatabase: MakeDatabase) {
  const opened = await openStore(makeDatabase, { timeZone: BEFORE, clock: () => LATE });
  const { store } = opened;
  const partner = (await store.addPartner("wallet", by(LATE))) as Partner;
  const { revision } = await store.publishCatalogue("production", BOUQUETS, by(LATE));
  await store.importCustomers("production", [stated(store)], by(LATE), "unsaid");
  const random = seededRandom(7);
  const topUp = async (on: Store, now: number) => {
    const secrets = await on.checkoutSecrets();
    const holder: CheckoutHolder = { partnerId: partner.id, environment: "production" };
    const checkoutId = issueCheckout(secrets[0] as (typeof secrets)[0], holder, SITA_NET, {
      ...{ revision, issuedAt: now, nonce: random(16) },
    });
    const checkout = openCheckout(secrets, holder, checkoutId) as NonNullable<ReturnType<typeof openCheckout>>;
    const what = { bouquetCode: "NET-1M", amount: 113_000n, udf1: undefined, udf2: undefined };
    const txnId = formatTransactionId(now, random(10));
    return on.settleTopUp({ ...SITA_NET, partnerId: partner.id, checkoutId, checkout, ...what, txnId });
  };
  const transaction = expectRecorded(await topUp(store, LATE));
  return { ...opened, topUp, transaction };
}

/** The same two days later, by other rules of its zone. */
async function openChanged(makeDatabase: MakeDatabase) {
  const opened = await openBefore(makeDatabase);
  const { database } = opened;
  await opened.store.close();
  await database.tamper(RENAMED);
  const now = LATE + 2 * DAY;
  const reopen = () => database.open({ clock: () => now, random: seededRandom(2), timeZone: AFTER });
  const store = await reopen();
  return { ...opened, store, now, reopen };
}

function stated(store: Store): StatedCustomer {
  const internet = [{ username: SITA_NET.reqId, status: "active", subscriptions: [{ code: "NET-1M", ...RUN }] }];
  const row = {
    cuid: SITA_NET.cuid,
    first_name: "Sita",
    last_name: "Rai",
    status: "active",
    connections: { internet },
  };
  const findBouquet = () => BOUQUETS.find(({ code }) => code === "NET-1M");
  const reading = readCustomerRow(asJson(row), { calendar: store.provider.calendar, findBouquet });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.value;
}

async function subscriptionOf(store: Store) {
  return (await store.findConnection(SITA_NET))?.connection?.subscriptions;
}

async function told(store: Store): Promise<string[]> {
  const said: string[] = [];
  for await (const event of store.check()) if (event.kind === "checked") said.push(event.what);
  return said;
}

async function* chunksOf<Chunk>(chunks: readonly Chunk[]): AsyncGenerator<Chunk> {
  yield* chunks;
}
