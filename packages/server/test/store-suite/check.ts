import { expect, test } from "vitest";
import { DAY_MS } from "../../src/domain/calendar.ts";
import type { CheckEvent, Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { customersOf } from "../support/customers-of.ts";
import { copyRows, findWrong, type MakeDatabase, openStore, type TestDatabase } from "./database.ts";
import { expectRecorded, openProvider, RAM_NET, SITA_NET, SITA_TV } from "./provider.ts";

const SITAS_FIBER = "cuid = '2000001' AND service = 'internet'";

type Damage = (database: TestDatabase) => Promise<void>;

/** What a fault or a careless hand did, and what is said of it. */
const DAMAGE: readonly (readonly [done: string, damage: string | Damage, said: RegExp])[] = [
  [
    "an end that was moved",
    `UPDATE subscription SET end_at = end_at + 1000 WHERE ${SITAS_FIBER}`,
    /2000001 .*internet: Fiber 100 Mbps is not the fold/,
  ],
  [
    "a span that was stretched",
    `UPDATE subscription SET months = months + 1 WHERE ${SITAS_FIBER}`,
    /is not the fold of its grants/,
  ],
  ["a subscription that was deleted", `DELETE FROM subscription WHERE ${SITAS_FIBER}`, /is not the fold of its grants/],
  [
    "a subscription that was renamed",
    `UPDATE subscription SET plan = 'Free TV' WHERE ${SITAS_FIBER}`,
    /1 subscriptions without a grant/,
  ],
  [
    "a subscription that was made up",
    (database) => copyRows(database, "subscription", SITAS_FIBER, { cuid: "'2000004'" }),
    /1 subscriptions without a grant/,
  ],
  [
    "a grant that was changed",
    `UPDATE subscription_grant SET months = 12 WHERE ${SITAS_FIBER} AND kind = 'top_up'`,
    /is not the fold of its grants/,
  ],
  [
    "a grant that was deleted",
    `DELETE FROM subscription_grant WHERE ${SITAS_FIBER} AND kind = 'top_up'`,
    /1 top-ups without a grant/,
  ],
  [
    "a grant that was doubled",
    (database) => copyRows(database, "subscription_grant", `${SITAS_FIBER} AND kind = 'top_up'`, { seq: "seq + 1" }),
    /1 top-ups with more than one grant/,
  ],
  [
    "a top-up whose amount was changed",
    `UPDATE top_up SET amount = 1 WHERE ${SITAS_FIBER}`,
    /1 top-ups at another price than the catalogue had from which it was quoted/,
  ],
  [
    "a top-up whose amount was changed to a price of another time",
    async (database) => {
      await copyRows(database, "catalogue_revision", "environment = 'production'", { revision: "revision + 10" });
      await copyRows(database, "bouquet", "code = 'NET-1M'", { revision: "revision + 10", price: "price - 1000" });
      await database.tamper(`UPDATE top_up SET amount = amount - 1000 WHERE ${SITAS_FIBER}`);
    },
    /1 top-ups at another price than the catalogue had from which it was quoted/,
  ],
  [
    "a code that leads to another customer",
    "INSERT INTO customer_code (code, environment, cuid) SELECT 'stray', environment, cuid FROM customer WHERE cuid = '2000002'",
    /1 codes that are not those of their customer/,
  ],
  [
    "a mobile number that leads nowhere",
    "DELETE FROM customer_code WHERE code IN (SELECT mobile FROM customer WHERE cuid = '2000001') AND cuid = '2000001'",
    /1 mobile numbers that cannot be looked up/,
  ],
  [
    "a top-up that was deleted",
    `DELETE FROM top_up WHERE ${SITAS_FIBER}`,
    /1 grants of a top-up that is not on record/,
  ],
  [
    "a top-up that was moved to another customer",
    `UPDATE top_up SET cuid = '2000002' WHERE ${SITAS_FIBER}`,
    /1 grants of a top-up that is not on record/,
  ],
  [
    "a top-up whose bouquet was changed",
    `UPDATE top_up SET bouquet_code = 'NET-12M' WHERE ${SITAS_FIBER}`,
    /1 grants of a top-up that is not on record/,
  ],
  [
    "a top-up whose time was changed",
    `UPDATE top_up SET at = at + 1 WHERE ${SITAS_FIBER}`,
    /1 grants of a top-up that is not on record/,
  ],
  ...[
    "service = 'tv'",
    "environment = 'trial'",
    "bouquet_code = 'NET-1M'",
    "txn_id = 'TXN'",
    "amount = 1",
    "partner_id = 2",
  ].map(
    (change) =>
      [
        `a reversal that was given another ${change.split(" ")[0]}`,
        `UPDATE reversal SET ${change}`,
        /1 reversals of something else than their top-up/,
      ] as const,
  ),
  [
    "a reversal that was moved to another day",
    "UPDATE reversal SET at = at + 86400000",
    /1 reversals that the ledger does not know, or has at another time/,
  ],
  ["a reversal that was deleted", "DELETE FROM reversal", /1 top-ups that are reversed without a reversal/],
  [
    "a top-up that is not reversed any more",
    "UPDATE top_up SET status = 'success'",
    /1 reversals of a top-up that is not reversed/,
  ],
  [
    "a top-up of a partner who is not there",
    `UPDATE top_up SET partner_id = 77 WHERE ${SITAS_FIBER}`,
    /1 top-ups of a partner who is not there/,
  ],
  [
    "a txnId that was given twice",
    "UPDATE top_up SET txn_id = (SELECT min(txn_id) FROM top_up)",
    /1 txnIds that more than one top-up has/,
  ],
  [
    "a txnId that was cut",
    `UPDATE top_up SET txn_id = substr(txn_id, 1, 25) WHERE ${SITAS_FIBER}`,
    /1 top-ups whose txnId has not the form of one/,
  ],
  [
    "a txnId that was moved to another day",
    `UPDATE top_up SET txn_id = '00000' || substr(txn_id, 6) WHERE ${SITAS_FIBER}`,
    /1 top-ups whose txnId is of another time/,
  ],
  [
    "a top-up of another topupd that was moved to another connection",
    `UPDATE top_up SET imported = true, req_id = 'sita-iptv' WHERE ${SITAS_FIBER}`,
    /1 top-ups of another topupd whose checkoutId was issued for another connection/,
  ],
  [
    "a top-up that was given to another partner",
    `UPDATE top_up SET partner_id = partner_id + 1 WHERE ${SITAS_FIBER}`,
    /1 top-ups whose checkoutId no secret opens/,
  ],
  [
    "a horizon that is still to come",
    "INSERT INTO retention (only_row, pruned_before) VALUES (true, 4102444800000)",
    /gone from before 2100-01-01 00:00:00, which is still to come/,
  ],
  ["a secret that is gone", "DELETE FROM checkout_secret", /there is no checkout secret/],
  ["a secret that is cut", "UPDATE checkout_secret SET key = substr(key, 2)", /1 checkout secrets that are not whole/],
  [
    "a secret under another number",
    "UPDATE checkout_secret SET id = 5",
    /2 top-ups whose checkoutId no secret opens: a checkout secret was lost or altered/,
  ],
  [
    "a connection that was deleted",
    "DELETE FROM connection WHERE cuid = '2000002' AND service = 'internet'",
    /1 subscriptions without a connection/,
  ],
  ["a customer that was deleted", "DELETE FROM customer WHERE cuid = '2000002'", /2 connections without a customer/],
  [
    "a connection's code that was deleted",
    "DELETE FROM customer_code WHERE code = 'sita'",
    /1 connections that cannot be looked up/,
  ],
  [
    "a customer's code that was deleted",
    "DELETE FROM customer_code WHERE code = '2000002'",
    /1 customers that cannot be looked up/,
  ],
];

export function testCheck(makeDatabase: MakeDatabase): void {
  test("a fresh database is in order", async () => {
    const { store } = await openStore(makeDatabase);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a filled database is in order, and it is said how much was looked at", async () => {
    const { store, command } = await openProvider(makeDatabase);
    expectRecorded(await store.settleTopUp(command(SITA_TV, "KIDS-1M")));
    const events = await collect(store);
    expect(events.filter(({ kind }) => kind === "wrong")).toEqual([]);
    // Two plans of Sita's and two of Ram's were imported, and one was bought.
    expect(events).toContainEqual({
      kind: "checked",
      what: "subscriptions equal the fold of their grants",
      count: 5,
    });
  });

  test.each(DAMAGE)("%s is found", async (_, damage, said) => {
    const { store, command, database, now } = await openProvider(makeDatabase);
    expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
    const { checkoutId } = expectRecorded(await store.settleTopUp(command(RAM_NET, "NET-3M")));
    const reversed = await store.corrections.reverse(checkoutId, { ...by(now), reason: "paid twice" });
    expect(reversed.kind).toBe("reversed");
    expect(await findWrong(store)).toEqual([]);
    await (typeof damage === "string" ? database.tamper(damage) : damage(database));
    expect(await findWrong(store)).toContainEqual(expect.stringMatching(said));
  });

  test.each([
    ["deleted", "DELETE FROM retention"],
    ["moved back", "UPDATE retention SET pruned_before = pruned_before - 1"],
  ])("a horizon that was %s is found", async (_, damage) => {
    const { store, database, now } = await openProvider(makeDatabase);
    await store.retention.moveHorizon(now - 90 * DAY_MS, by(now));
    await store.retention.moveHorizon(now - 60 * DAY_MS, by(now));
    expect(await findWrong(store)).toEqual([]);
    await database.tamper(damage);
    expect(await findWrong(store)).toEqual([
      expect.stringMatching(/^history from before 2026-.* was let go, and the table retention does not know it/),
    ]);
  });

  test("a check changes nothing, and the store works on after it", async () => {
    const { store, command } = await openProvider(makeDatabase);
    const before = await customersOf(store, "production", "2000001");
    await collect(store);
    await collect(store);
    expect(await customersOf(store, "production", "2000001")).toEqual(before);
    expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
  });

  test("a check that is broken off leaves the store usable", async () => {
    const { store, command } = await openProvider(makeDatabase);
    for await (const event of store.check()) if (event.kind === "checked") break;
    expectRecorded(await store.settleTopUp(command(SITA_NET, "NET-1M")));
    expect(await findWrong(store)).toEqual([]);
  });

  test("a check in the middle of which another store settles top-ups finds nothing wrong", async () => {
    const opened = await openProvider(makeDatabase);
    const other = await opened.another();
    const events: CheckEvent[] = [];
    for await (const event of opened.store.check()) {
      events.push(event);
      expectRecorded(await other.settleTopUp(opened.command(SITA_NET, "NET-1M")));
    }
    expect(events.length).toBeGreaterThan(3);
    expect(events.filter(({ kind }) => kind === "wrong")).toEqual([]);
    expect(await findWrong(opened.store)).toEqual([]);
  });
}

async function collect(store: Store): Promise<CheckEvent[]> {
  const events: CheckEvent[] = [];
  for await (const event of store.check()) events.push(event);
  return events;
}
