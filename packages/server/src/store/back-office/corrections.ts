import type { Kysely } from "kysely";
import type { Attribution } from "../../domain/audit.ts";
import {
  type Correcting,
  type Correction,
  decideBlock,
  grantGoodwill,
  reverseGoodwill,
  reverseTopUp,
} from "../../domain/correction.ts";
import { type Connection, type ConnectionKey, isBlocked, withHead } from "../../domain/customer.ts";
import { eventOf, type NewEvent } from "../../domain/event.ts";
import { headOf, type Ledger } from "../../domain/ledger.ts";
import { isTooLateToRecord, type Transaction } from "../../domain/top-up.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Corrections, SingleCorrections } from "../changes.ts";
import { GONE } from "../customer-files.ts";
import type { Engine } from "../engine.ts";
import { StoreUnavailable } from "../errors.ts";
import { CONNECTION_KEY, flag, keyColumns } from "../rows.ts";
import type { Tables } from "../tables.ts";
import { appendAudit } from "./audit.ts";
import { findConnection, findConnectionWithHeads, ledgersOfConnection } from "./customers.ts";
import { appendEvents } from "./events.ts";
import { findTransaction } from "./transactions.ts";

type Tx = Kysely<Tables>;

export function correctionsOf(engine: Engine, clock: () => Instant): Omit<Corrections, "bulk"> {
  const preview = singleCorrections(engine, { isPreview: true }, clock);
  return { ...singleCorrections(engine, { isPreview: false }, clock), preview };
}

/** @throws StoreUnavailable where a day whose report is final by now would be changed. */
export function refuseLate({ at }: Correcting, clock: () => Instant): void {
  if (isTooLateToRecord(at.instant, clock()))
    throw new StoreUnavailable("the correction took too long, and was not made: make it again");
}

function singleCorrections(
  engine: Engine,
  { isPreview }: { readonly isPreview: boolean },
  clock: () => Instant,
): SingleCorrections {
  /** Decides and writes in order with all else that happens to the customer. */
  const correct = <Outcome>(
    key: ConnectionKey,
    by: Correcting,
    work: (tx: Tx) => Promise<Outcome>,
  ): Promise<Outcome> =>
    isPreview
      ? work(engine.db)
      : engine.transact(async (tx) => {
          await engine.lockCustomers(tx, [key]);
          const outcome = await work(tx);
          refuseLate(by, clock);
          return outcome;
        });

  const readLedgers = async (tx: Tx, key: ConnectionKey) =>
    ledgersOfConnection(await engine.readLedgers(tx, key.environment, [key.cuid]), key);

  /** @param ledgers those of the connection, as they were before. @param reversed the top-up that is taken back. */
  const write = async (
    tx: Tx,
    { key, plan, entry, audited }: Correction,
    ledgers: readonly Ledger[],
    by: Correcting,
    reversed?: Transaction,
  ): Promise<void> => {
    if (isPreview) return;
    if (reversed !== undefined) await markReversed(tx, reversed, by);
    await engine.appendEntry(tx, key, plan, entry);
    await appendAudit(engine, tx, audited, attributionOf(by));
    const before = (await findConnection(tx, key, ledgers)) ?? { ...GONE, ledgers: ledgers.map(headOf) };
    const after = withHead(before, { plan, seq: entry.seq, subscription: entry.after });
    const kind = reversed === undefined ? "subscription.changed" : "topup.reversed";
    await appendEvents(engine, tx, [eventOf(kind, by.at.instant, key, after, reversed)]);
  };

  return {
    async reverse(checkoutId, by) {
      const known = await findTransaction(engine.db, checkoutId);
      if (known === undefined) return { kind: "not_found" };
      return correct(known, by, async (tx) => {
        const transaction = await findTransaction(tx, checkoutId);
        const ledgers = await readLedgers(tx, known);
        const outcome = reverseTopUp(transaction, ledgers, by);
        if (outcome.kind === "reversed") await write(tx, outcome.correction, ledgers, by, outcome.transaction);
        return outcome;
      });
    },

    grantGoodwill: (command, by) =>
      correct(command, by, async (tx) => {
        const ledgers = await readLedgers(tx, command);
        const outcome = grantGoodwill(await findConnection(tx, command, ledgers), ledgers, command, by);
        if (outcome.kind === "granted") await write(tx, outcome.correction, ledgers, by);
        return outcome;
      }),

    reverseGoodwill: (command, by) =>
      correct(command, by, async (tx) => {
        const ledgers = await readLedgers(tx, command);
        const outcome = reverseGoodwill(ledgers, command, by);
        if (outcome.kind === "reversed") await write(tx, outcome.correction, ledgers, by);
        return outcome;
      }),

    setBlocked: (key, blocked, by) =>
      correct(key, by, async (tx) => {
        const connection = await findConnectionWithHeads(tx, key);
        const outcome = decideBlock(connection, key, blocked);
        if (isPreview || connection === undefined || outcome.kind !== "done" || outcome.audited === undefined)
          return outcome;
        await writeBlock(tx, key, blocked, by);
        await appendAudit(engine, tx, outcome.audited, attributionOf(by));
        await appendEvents(engine, tx, blockEvents(key, connection, blocked, by));
        return outcome;
      }),
  };
}

export async function writeBlock(
  tx: Tx,
  key: ConnectionKey,
  blocked: boolean,
  { at, author, reason }: Correcting,
): Promise<void> {
  await tx
    .updateTable("connection")
    .set({ blocked: flag(blocked) })
    .where((eb) => eb.and(keyColumns(key)))
    .execute();
  if (!blocked) return;
  const block = { at: at.instant, wall: at.wall, author, reason };
  await tx
    .insertInto("connection_block")
    .values({ ...keyColumns(key), ...block })
    .onConflict((conflict) => conflict.columns(CONNECTION_KEY).doUpdateSet(block))
    .execute();
}

/** None where it makes no difference, since the provider's records say the same. @param connection as it was before. */
export function blockEvents(
  key: ConnectionKey,
  connection: Connection,
  blocked: boolean,
  { at }: Correcting,
): NewEvent[] {
  const after = { ...connection, blocked };
  if (isBlocked(connection) === isBlocked(after)) return [];
  return [eventOf(blocked ? "connection.blocked" : "connection.unblocked", at.instant, key, after)];
}

export async function markReversed(
  tx: Tx,
  { checkoutId, txnId }: Transaction,
  { author, reason, at }: Correcting,
): Promise<void> {
  await tx.updateTable("top_up").set({ status: "reversed" }).where("checkout_id", "=", checkoutId).execute();
  const reversal = { txn_id: txnId, at: at.instant, wall: at.wall, author, reason };
  await tx.insertInto("reversal").values(reversal).execute();
}

export function attributionOf({ at, ...said }: Correcting): Attribution {
  return { ...said, at: at.instant };
}
