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
import type { ConnectionKey } from "../../domain/customer.ts";
import { isTooLateToRecord, type Transaction } from "../../domain/top-up.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Corrections } from "../changes.ts";
import { StoreUnavailable } from "../errors.ts";
import { flag, keyColumns, toTransaction } from "../rows.ts";
import type { Tables } from "../tables.ts";
import { appendAudit } from "./audit.ts";
import { findConnection, ledgersOfConnection } from "./customers.ts";
import type { Engine } from "./engine.ts";

type Tx = Kysely<Tables>;

export function correctionsOf(engine: Engine, clock: () => Instant): Corrections {
  /** Decides and writes in order with all else that happens to the customer. A day whose report was final stays as it is. */
  const correct = <Outcome>(key: ConnectionKey, by: Correcting, work: (tx: Tx) => Promise<Outcome>): Promise<Outcome> =>
    engine.transact(async (tx) => {
      await engine.lockCustomers(tx, [key]);
      const outcome = await work(tx);
      if (isTooLateToRecord(by.at.instant, clock()))
        throw new StoreUnavailable("the correction took too long, and was not made: make it again");
      return outcome;
    });

  const readLedgers = async (tx: Tx, key: ConnectionKey) =>
    ledgersOfConnection(await engine.readLedgers(tx, key.environment, [key.cuid]), key);

  const write = async (tx: Tx, { key, plan, entry, audited }: Correction, by: Correcting): Promise<void> => {
    await engine.appendEntry(tx, key, plan, entry);
    await appendAudit(engine, tx, audited, attributionOf(by));
  };

  return {
    async reverse(checkoutId, by) {
      const known = await findTransaction(engine.db, checkoutId);
      if (known === undefined) return { kind: "not_found" };
      return correct(known, by, async (tx) => {
        const transaction = await findTransaction(tx, checkoutId);
        const outcome = reverseTopUp(transaction, await readLedgers(tx, known), by);
        if (outcome.kind !== "reversed") return outcome;
        await markReversed(tx, outcome.transaction, by);
        await write(tx, outcome.correction, by);
        return outcome;
      });
    },

    grantGoodwill: (command, by) =>
      correct(command, by, async (tx) => {
        const ledgers = await readLedgers(tx, command);
        const outcome = grantGoodwill(await findConnection(tx, command, ledgers), ledgers, command, by);
        if (outcome.kind === "granted") await write(tx, outcome.correction, by);
        return outcome;
      }),

    reverseGoodwill: (command, by) =>
      correct(command, by, async (tx) => {
        const outcome = reverseGoodwill(await readLedgers(tx, command), command, by);
        if (outcome.kind === "reversed") await write(tx, outcome.correction, by);
        return outcome;
      }),

    setBlocked: (key, blocked, by) =>
      correct(key, by, async (tx) => {
        const outcome = decideBlock(await findConnection(tx, key, []), key, blocked);
        if (outcome.kind !== "done" || outcome.audited === undefined) return outcome;
        const values = { blocked: flag(blocked) };
        await tx
          .updateTable("connection")
          .set(values)
          .where((eb) => eb.and(keyColumns(key)))
          .execute();
        await appendAudit(engine, tx, outcome.audited, attributionOf(by));
        return outcome;
      }),
  };
}

async function findTransaction(db: Tx, checkoutId: string): Promise<Transaction | undefined> {
  const row = await db.selectFrom("top_up").selectAll().where("checkout_id", "=", checkoutId).executeTakeFirst();
  return row && toTransaction(row);
}

async function markReversed(tx: Tx, { checkoutId, txnId }: Transaction, { author, reason, at }: Correcting) {
  await tx.updateTable("top_up").set({ status: "reversed" }).where("checkout_id", "=", checkoutId).execute();
  const reversal = { txn_id: txnId, at: at.instant, wall: at.wall, author, reason };
  await tx.insertInto("reversal").values(reversal).execute();
}

function attributionOf({ author, reason, at }: Correcting): Attribution {
  return { author, reason, at: at.instant };
}
