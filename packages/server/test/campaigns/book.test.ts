import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { audit, auditView, expectBook, postgresView, Told, type ToldTopUp } from "../../campaign/book.ts";
import type { TopUpCommand } from "../../src/domain/top-up.ts";
import type { Transaction } from "../../src/domain/transaction.ts";
import { closeShift, openShift } from "../../src/office/shifts/seller.ts";
import type { TestDatabase } from "../store-suite/database.ts";
import { openFilledProvider } from "../store-suite/filled-provider.ts";
import { expectRecorded, RAM_NET } from "../store-suite/provider.ts";
import { deskOf, run } from "../support/desk.ts";
import { makePostgresDatabase, withClient } from "../support/postgres-database.ts";
import { addSeller } from "../support/sellers.ts";
import { makeSqliteDatabase, tamper } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/*
 * The book that campaigns ask, asked about falsified copies of a small database: it must find what each is named for, and
 * nothing in the unaltered copy.
 */

interface Original extends TestDatabase {
  /** @returns the address of a falsified copy; in PostgreSQL of the database itself. */
  readonly falsify: (sql: string) => Promise<string>;
  /** Asks the book about a falsified copy. */
  readonly askFalsified: (sql: string, told: Told) => Promise<string[]>;
}

const STORES: readonly { readonly name: string; readonly make: () => Original }[] = [
  {
    name: "SQLite",
    make: () => {
      const [folder, address] = [temporaryFolder(), join(temporaryFolder(), "topupd.db")];
      let copies = 0;
      const falsify = async (sql: string) => {
        const copy = join(folder, `${++copies}.db`);
        copyFileSync(address, copy);
        tamper(copy, sql);
        return `sqlite:${copy}`;
      };
      const askFalsified: Original["askFalsified"] = async (sql, told) => audit(await falsify(sql), told);
      return { ...makeSqliteDatabase(address), falsify, askFalsified };
    },
  },
  {
    name: "PostgreSQL",
    make: () => {
      const { url: address, ...original } = makePostgresDatabase();
      // What a transaction sees is a copy until it is rolled back.
      const askFalsified: Original["askFalsified"] = (sql, told) =>
        withClient(address, async (client) => {
          await client.query(`BEGIN; SET LOCAL session_replication_role = replica; ${sql}`);
          return auditView(postgresView(client), told);
        });
      const falsify = async (sql: string) => {
        await original.tamper(sql);
        return address;
      };
      return { ...original, falsify, askFalsified };
    },
  },
];

const RAM = "cuid = '2000002' AND req_id = 'ram'";
const txnId = (order: string) => `(SELECT txn_id FROM top_up WHERE ${RAM} ORDER BY txn_id ${order} LIMIT 1)`;
const [FIRST, LAST] = [txnId("ASC"), txnId("DESC")];
const event = (of: string) =>
  `(SELECT min(seq) FROM event WHERE kind = 'topup.recorded' AND state LIKE '%' || ${of} || '%')`;
const EVENT = "kind, at, environment, cuid, service, req_id, partner_id, state";
const shift = (order: string) => `(SELECT id FROM shift WHERE seller = 'hari' ORDER BY id ${order} LIMIT 1)`;
const OF_TODAY = "day > '2026' AND bouquet_code = 'NET-1M'";

const [ENTRY, SUMS, BALANCE] = ["not of each other", "sums of a day", "not the sum of entries"] as const;
const [FOLLOWS, TIME, LEDGER] = [
  "does not follow from those",
  "not that of its txnId or date",
  "not its last entry's",
] as const;
const [NO_EVENT, SALE, CASH] = ["without an event", "not of its top-up or shift", "expected cash is not that"] as const;
const [AUDIT, TOLD, PRICE] = ["entry of the audit trail", "not as it was acknowledged", "not at the price"] as const;

type Case = readonly [what: string, how: string | ((told: Told) => unknown), found: string];

const first = (told: Told) => [...told.topUps.values()][0] as ToldTopUp;
const topUp = (change: string, of = LAST) => `UPDATE top_up SET ${change} WHERE txn_id = ${of}`;
const entry = (change: string, of = `txn_id = ${LAST}`) => `UPDATE ledger_entry SET ${change} WHERE ${of}`;

/** What is falsified, how, and what the book must say of it. */
const CASES: readonly Case[] = [
  [
    "an acknowledged top-up is missing",
    (told) => told.note({ ...first(told), checkoutId: "lost" }),
    "acknowledged and is not there",
  ],
  [
    "an acknowledged price was another",
    (told) => told.topUps.set(first(told).checkoutId, { ...first(told), amount: 1 }),
    TOLD,
  ],
  [
    "an acknowledged reversal is missing",
    (told) => told.reversed.add(first(told).txnId),
    "reversal that was acknowledged",
  ],
  ["a top-up came after never_topped_up", (told) => told.never.add(first(told).checkoutId), "after never_topped_up: "],
  [
    "a top-up came after a refusal by balance",
    (told) => told.refused.add(first(told).checkoutId),
    "after it was refused",
  ],
  [
    "a checkout is not retired after never_topped_up",
    "DELETE FROM retired_checkout WHERE reason IS NULL",
    "never_topped_up that is not retired",
  ],
  [
    "a checkout is not retired after a refusal",
    "DELETE FROM retired_checkout WHERE reason IS NOT NULL",
    "refused checkout that is not retired",
  ],
  [
    "the checkout of a top-up is retired",
    `INSERT INTO retired_checkout (checkout_id, at) SELECT checkout_id, at FROM top_up WHERE txn_id = ${LAST}`,
    "of a retired checkout",
  ],
  ["a top-up is gone", `DELETE FROM top_up WHERE txn_id = ${LAST}`, ENTRY],
  [
    "a top-up is gone with its entry",
    `DELETE FROM ledger_entry WHERE txn_id = ${LAST}; DELETE FROM top_up WHERE txn_id = ${LAST}`,
    LEDGER,
  ],
  ["a price is 1 higher", topUp("amount = amount + 1"), PRICE],
  ["a price is 1 lower", topUp("amount = amount - 1"), PRICE],
  ["a price is not as acknowledged", topUp("amount = amount + 1"), TOLD],
  ["a price is not in the sums", topUp("amount = amount + 1"), SUMS],
  ["a commission is 1 higher", topUp("commission = commission + 1"), SUMS],
  ["a top-up is of another customer", topUp("cuid = '2000001'"), "another connection than its checkout"],
  ["a top-up is of another partner", topUp("partner_id = partner_id + 1"), "another partner than its checkout"],
  ["a top-up gave more time", entry("days = days + 1"), "not the bouquet of its checkout"],
  ["a top-up is a millisecond younger", topUp("at = at + 1"), TIME],
  ["a top-up is too late", topUp("at = at + 300001"), "after its checkout expired"],
  ["a top-up is dated the next day", topUp("txn_date = '2026-11-22 09:00:00'"), TIME],
  ["a top-up has two entries", entry(`txn_id = ${LAST}`, `txn_id = ${FIRST}`), "two ledger entries"],
  ["a top-up is reversed only by its status", topUp("status = 'reversed'"), "status is not that of its reversal"],
  ["a reversal has no row", "DELETE FROM reversal", "reversal and a ledger entry that are not"],
  [
    "a reversal has no entry",
    `DELETE FROM ledger_entry WHERE kind = 'reversal' AND ${RAM}`,
    "reversal and a ledger entry that are not",
  ],
  ["a reversal is of another entry", entry("reverses = 1", `kind = 'reversal' AND ${RAM}`), "reversal of nothing"],
  ["an end is a day later", entry("after_end = replace(after_end, '-24 ', '-25 ')"), FOLLOWS],
  ["an end is not counted", entry("after_days = after_days + 1"), "not its anchor, months and days"],
  ["a goodwill is a day longer", entry("days = days + 1", `kind = 'goodwill' AND ${RAM}`), FOLLOWS],
  [
    "an import stated another end",
    entry("stated_end = '2027-01-01 00:00:00'", "kind = 'import' AND req_id = 'sita'"),
    FOLLOWS,
  ],
  [
    "an entry has another date",
    entry("wall = '2026-11-22 09:00:00'", `kind = 'goodwill' AND ${RAM}`),
    "date is not its time",
  ],
  ["an entry is gone", `DELETE FROM ledger_entry WHERE txn_id = ${FIRST}`, "ledger with a gap"],
  ["a ledger is gone", `DELETE FROM ledger_entry WHERE ${RAM}`, "subscription without an entry"],
  ["a subscription ends later", `UPDATE subscription SET end_time = '2030-01-01 00:00:00' WHERE ${RAM}`, LEDGER],
  ["a subscription is gone", `DELETE FROM subscription WHERE ${RAM}`, LEDGER],
  ["a balance is 1 higher", "UPDATE account SET balance = balance + 1 WHERE balance IS NOT NULL", BALANCE],
  ["a balance is 1 lower", "UPDATE account SET balance = balance - 1 WHERE balance IS NOT NULL", BALANCE],
  ["a deposit is gone", "DELETE FROM account_entry", BALANCE],
  ["a day has a top-up more", `UPDATE sales_day SET top_ups = top_ups + 1 WHERE ${OF_TODAY}`, SUMS],
  ["a day has a commission 1 higher", `UPDATE sales_day SET commission = commission + 1 WHERE ${OF_TODAY}`, SUMS],
  ["a day has a reversal less", `UPDATE sales_day SET reversals = reversals - 1 WHERE ${OF_TODAY}`, SUMS],
  ["a day returned 1 more", `UPDATE sales_day SET returned = returned + 1 WHERE ${OF_TODAY}`, SUMS],
  ["a day was sold on another", `UPDATE sales_day SET sold_on = '2000-01-01' WHERE ${OF_TODAY}`, SUMS],
  ["a day is gone", `DELETE FROM sales_day WHERE ${OF_TODAY}`, SUMS],
  ["an event is deleted", `DELETE FROM event WHERE seq = ${event(FIRST)}`, "gap in the numbers of events"],
  ["the last event is deleted", `DELETE FROM event WHERE seq = ${event(LAST)}`, NO_EVENT],
  [
    "an event was never written",
    `UPDATE event SET kind = 'subscription.changed', state = '{}' WHERE seq = ${event(LAST)}`,
    NO_EVENT,
  ],
  [
    "an event is there twice",
    `INSERT INTO event (seq, ${EVENT}) SELECT (SELECT max(seq) + 1 FROM event), ${EVENT} FROM event WHERE seq = ${event(FIRST)}`,
    "event that is there twice",
  ],
  [
    "two events are in another order",
    `UPDATE event SET seq = -seq WHERE seq = ${event(LAST)}; UPDATE event SET seq = 1000 WHERE seq = ${event(FIRST)}`,
    "out of order",
  ],
  [
    "an event is of another time",
    `UPDATE event SET at = at + 1 WHERE seq = ${event(LAST)}`,
    "event that is not of its top-up",
  ],
  [
    "an event tells another end",
    `UPDATE event SET state = replace(state, '2027-', '2028-') WHERE seq = ${event(LAST)}`,
    "event whose end",
  ],
  ["a sale is in another shift", `UPDATE sale SET shift_id = ${shift("DESC")} WHERE shift_id = ${shift("ASC")}`, CASH],
  ["a sale is gone", `DELETE FROM sale WHERE shift_id = ${shift("ASC")}`, CASH],
  ["a shift expects 1 more", `UPDATE shift SET expected = expected + 1 WHERE id = ${shift("ASC")}`, CASH],
  ["a shift is of another seller", `UPDATE shift SET seller = 'mina' WHERE id = ${shift("ASC")}`, SALE],
  [
    "cash was returned of a sale that stands",
    `UPDATE sale SET returned_shift = shift_id WHERE shift_id = ${shift("ASC")}`,
    SALE,
  ],
  ["an audit entry is altered", "UPDATE audit_entry SET subject = 'other' WHERE seq = 3", AUDIT],
  ["an audit entry is gone", "DELETE FROM audit_entry WHERE seq = 3", AUDIT],
];

const ON_SQLITE: readonly Case[] = [
  ["an entry points elsewhere", entry("previous = NULL"), "does not point to the one before it"],
  ["a value breaks a constraint", topUp("status = 'lost'"), "the file: CHECK constraint failed"],
];

/** Adds to the filled provider what it lacks: a ledger with a past, and two shifts with a cash sale in each. */
async function openPast(make: () => Original): Promise<Original & { readonly told: Told }> {
  const original = make();
  const opened = await openFilledProvider(() => original);
  const { store, partner, checkouts } = opened;
  const told = new Told();
  for (const { checkoutId } of [checkouts.used, checkouts.reversed])
    told.note((await store.findTransaction(checkoutId)) as Transaction);
  told.never.add(checkouts.retired.checkoutId);
  told.refused.add(checkouts.refused.checkoutId);
  const sell = async (code: string, more: Partial<TopUpCommand> = {}) => {
    opened.now += 60_000;
    const topUp = expectRecorded(await store.settleTopUp(opened.command(RAM_NET, code, more)));
    told.note(topUp);
    return topUp;
  };
  const seller = await addSeller(store, "hari", partner.id, opened.now);
  for (const code of ["NET-1M", "NET-3M"]) {
    const desk = deskOf({ store, clock: () => opened.now }, seller);
    await run(desk, openShift, { opening: "500" });
    await sell(code, { sale: { seller: "hari", method: "cash" } });
    await run(desk, closeShift, { counted: "500" });
  }
  await opened.grant(RAM_NET, 3);
  const { checkoutId } = await sell("NET-1M");
  await opened.reverse(checkoutId);
  await sell("NET-1M");
  await store.close();
  return { ...original, told };
}

test.each(STORES)(
  "the book finds each falsification of a database on $name, and nothing else",
  async ({ name, make }) => {
    const { falsify, askFalsified, told } = await openPast(make);
    const cwd = temporaryFolder();
    await expectBook({ cwd, database: await falsify("") }, told);
    for (const [what, how, found] of [...CASES, ...(name === "SQLite" ? ON_SQLITE : [])]) {
      const other = Object.assign(new Told(), structuredClone(Object.fromEntries(Object.entries(told))));
      if (typeof how !== "string") how(other);
      const findings = await askFalsified(typeof how === "string" ? how : "", other);
      expect(findings.join("\n"), what).toContain(found);
    }
    const database = await falsify(`UPDATE sales_day SET top_ups = top_ups + 1 WHERE ${OF_TODAY}`);
    const said = await expectBook({ cwd, database }, told).catch(String);
    for (const found of [SUMS, "topupd check ended with 3", "a sum that is not settled", "a settlement of other sums"])
      expect(said).toContain(found);
  },
);
