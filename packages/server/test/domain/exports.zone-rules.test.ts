import { describe, expect, test } from "vitest";
import { type Calendar, createCalendar, type Instant } from "../../src/domain/calendar.ts";
import { customerRow } from "../../src/domain/customer-export.ts";
import { readCustomerRow } from "../../src/domain/customer-row.ts";
import { readHistoryRow } from "../../src/domain/history-row.ts";
import { formatTransactionId } from "../../src/domain/transaction-id.ts";
import { asJson, at, MONTHLY } from "./builders.ts";
import { fileWith, ProviderWorld, statedConnection, statedCustomer, statedSubscription } from "./provider-world.ts";
import { commandWith, FIBER, ISSUED_AT } from "./purchase.ts";
import { AFTER, BEFORE, changedAt } from "./two-rules.ts";

const CHANGE = at("2026-11-25");
const [then, now] = [createCalendar(BEFORE), createCalendar(AFTER)];
const findBouquet = () => MONTHLY;

/** A run from November to June, of which a month was topped up. */
function sold(calendar: Calendar): ProviderWorld {
  const world = new ProviderWorld(calendar);
  const rules = calendar.asOf(at("2026-11-10"));
  const [start, end] = ["2026-11-01", "2027-05-01"].map((day) => rules.parse(`${day} 00:00:00`)) as [number, number];
  const subscriptions = [statedSubscription(start, end, MONTHLY, rules)];
  world.import(statedCustomer([statedConnection({ subscriptions })]), at("2026-11-10"));
  world.topUp("fiber1", at("2026-11-11"));
  return world;
}

function exported(world: ProviderWorld, calendar = world.calendar) {
  if (world.customer === undefined) throw new Error("there is nobody to export");
  return customerRow(world.customer, { calendar, findBouquet });
}

function read(row: object, calendar: Calendar) {
  return readCustomerRow(asJson(row), { calendar, findBouquet });
}

describe("a customer who was exported by other rules of the zone", () => {
  test.each([
    ["by those of before, into a database of after", then, then, now],
    ["by those of after, into a database of before", now, now, then],
    ["from a database in which they have changed", changedAt(CHANGE), changedAt(CHANGE), now],
  ])("%s is taken from the instant of the start on", (_, soldBy, exportedBy, readBy) => {
    const row = exported(sold(soldBy), exportedBy);
    const [run] = row.connections.internet?.[0]?.subscriptions ?? [];
    const reading = read(row, readBy);
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    const [subscription] = reading.value.connections[0]?.subscriptions ?? [];
    expect(subscription?.start).toBe(Date.parse(run?.carried?.start ?? ""));
    expect(readBy.format(subscription?.end as Instant)).toBe("2027-06-01 00:00:00");
  });

  test("where the start itself was written otherwise, the instant of it counts", () => {
    const world = new ProviderWorld(then);
    world.import(fileWith(at("2026-07-01T04:00:00Z"), at("2026-08-01T04:00:00Z")), at("2026-07-02"));
    world.topUp("fiber1", at("2026-07-03"));
    const row = exported(world);
    expect(row.connections.internet?.[0]?.subscriptions?.[0]?.startdate).toBe("2026-07-01 00:00:00");
    const reading = read(row, now);
    expect(reading).toMatchObject({
      value: { connections: [{ subscriptions: [{ start: at("2026-07-01T04:00:00Z") }] }] },
    });
  });

  test("and comes back to the database that it is of tells nothing new", () => {
    const world = sold(changedAt(CHANGE));
    const reading = read(exported(world), world.calendar);
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    const stands = world.subscription("fiber1");
    expect(world.import(reading.value, CHANGE + 1)).toMatchObject({ entries: [], passedOver: [] });
    expect(world.subscription("fiber1")).toEqual(stands);
  });

  test.each([
    ["start", { startdate: "2026-11-01 02:00:00" }],
    ["start", { startdate: "2026-11-02 00:00:00" }],
    ["start", { enddate: "2027-06-02 00:00:00" }],
    ["start", { enddate: "2027-06-01 02:00:00" }],
    ["start", { enddate: "2027-06-01 00:00:01" }],
  ])("is refused where a date is another than a rule could make of it: %s of %o", (field, changes) => {
    const row = exported(sold(then));
    const [connection] = row.connections.internet ?? [];
    const [run] = connection?.subscriptions ?? [];
    const edited = { ...row, connections: { internet: [{ ...connection, subscriptions: [{ ...run, ...changes }] }] } };
    const reading = read(edited, now);
    if (reading.ok) throw new Error("it was taken");
    expect(reading.problems).toEqual([
      {
        field: expect.stringMatching(new RegExp(`${field}$`)),
        problem: expect.stringMatching(/does not fit the dates/),
      },
    ]);
  });

  test("is refused where its zone has had one offset alone", () => {
    const row = exported(sold(createCalendar("UTC")));
    const [connection] = row.connections.internet ?? [];
    const [run] = connection?.subscriptions ?? [];
    const subscriptions = [{ ...run, enddate: "2027-06-01 01:00:00" }];
    const edited = { ...row, connections: { internet: [{ ...connection, subscriptions }] } };
    expect(read(edited, createCalendar("UTC")).ok).toBe(false);
  });
});

describe("a top-up that was exported by other rules of the zone", () => {
  const AT = ISSUED_AT + 60_000;
  const row = (txnDate: string) =>
    asJson({
      ...{
        txnId: formatTransactionId(AT, new Uint8Array(10)),
        checkoutId: commandWith().checkoutId,
        partner: "wallet",
      },
      ...{ ...FIBER, bouquetId: MONTHLY.code, amount: "1130.00", at: new Date(AT).toISOString(), txnDate },
      status: "success",
    });
  const problems = (txnDate: string, calendar: Calendar) => {
    const context = { calendar, currencyExponent: 2, environment: "production", now: AT } as const;
    const reading = readHistoryRow(row(txnDate), { ...context, partnerIds: new Map([["wallet", 7]]) });
    return reading.ok ? [] : reading.problems.map(({ field }) => field);
  };

  test("is taken as recorded at its instant", () => {
    // 09:01 in UTC.
    expect(problems("2026-11-20 06:01:00", now)).toEqual([]);
    expect(problems("2026-11-20 05:01:00", now)).toEqual([]);
  });

  test.each([
    ["an offset that the zone has never had", "2026-11-20 07:01:00", now],
    ["another minute", "2026-11-20 05:02:00", now],
    ["another day", "2026-11-19 06:01:00", now],
    ["no time", "yesterday", now],
    ["another offset, where the zone has had but one", "2026-11-20 08:01:00", createCalendar("UTC")],
  ])("is refused where its txnDate has %s", (_, txnDate, calendar) => {
    expect(problems(txnDate, calendar)).toEqual(["txnDate"]);
  });
});
