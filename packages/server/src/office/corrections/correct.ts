import type { Correction } from "../../domain/correction.ts";
import { type ConnectionKey, withEntry } from "../../domain/customer.ts";
import { eventsBetween } from "../../domain/event.ts";
import { headOf, type Ledger } from "../../domain/ledger.ts";
import type { News } from "../../domain/news.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { returnCharge } from "../../store/accounts.ts";
import { GONE } from "../../store/customer-files.ts";
import { findConnection, ledgersOfConnection } from "../../store/customers.ts";
import type { Db } from "../../store/engine.ts";
import { reversalRows } from "../../store/sales.ts";
import { runOf } from "../common.ts";
import { type Change, correctingBy, type Decision, decide } from "../decide.ts";
import type { Corrector } from "../limits.ts";
import { markReversed } from "./sql.ts";

/** Decides on the ledgers of a connection. */
export function correct<Answer>(
  office: Corrector,
  { environment, cuid, service, reqId }: ConnectionKey,
  work: (tx: Db, ledgers: readonly Ledger[]) => Promise<Decision<Answer>>,
): Promise<Answer> {
  const key = { environment, cuid, service, reqId };
  return decide(office, [key], async (tx) =>
    work(tx, ledgersOfConnection(await office.store.engine.readLedgers(tx, environment, [cuid]), key)),
  );
}

/** The change that appends the entry of a correction. @param ledgers all ledgers of the connection. */
export async function changeOf(
  office: Corrector,
  tx: Db,
  ledgers: readonly Ledger[],
  correction: Correction,
  reversed?: Transaction,
): Promise<Change> {
  const { key, plan, entry, audited } = correction;
  const by = correctingBy(office);
  const before = (await findConnection(tx, key, ledgers)) ?? { ...GONE, ledgers: ledgers.map(headOf) };
  const why = reversed && ({ kind: "topup.reversed", topUp: reversed } as const);
  const write = async () => {
    if (reversed !== undefined) {
      await markReversed(tx, reversed, by);
      await returnCharge(tx, reversed);
      await office.store.engine.addSales(tx, reversalRows(reversed, by.at.wall));
    }
    await office.store.engine.appendEntries(tx, [{ key, plan, entry }]);
  };
  const events = eventsBetween(key, before, withEntry(before, correction), by.at, why);
  return { write, audit: [audited], events, news: reversed === undefined ? [] : [reversalOf(reversed, by.at.instant)] };
}

function reversalOf({ txnId, partnerId, environment }: Transaction, at: Instant): News {
  return { about: { kind: "reversal", partnerId, environment, txnId }, kind: "topup.reversed", at };
}

export function effectOf({ plan, before, entry }: Correction) {
  return { plan, before: runOf(before), after: runOf(entry.after) };
}
