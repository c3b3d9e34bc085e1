import type { Kysely } from "kysely";
import { type BulkOrder, bulkAnnounced, decideBulk, hadGoodwillLately } from "../../domain/bulk-correction.ts";
import type { Correcting } from "../../domain/correction.ts";
import { type Connection, type ConnectionKey, withHead } from "../../domain/customer.ts";
import { eventOf, type NewEvent } from "../../domain/event.ts";
import { headOf, type Ledger } from "../../domain/ledger.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { BulkCorrections, BulkEffect } from "../changes.ts";
import type { Engine } from "../engine.ts";
import { toBareConnection } from "../rows.ts";
import type { Tables } from "../tables.ts";
import { appendAudit, lockTrail } from "./audit.ts";
import { attributionOf, blockEvents, refuseLate, writeBlock } from "./corrections.ts";
import { appendEvents } from "./events.ts";

type Tx = Kysely<Tables>;

/** What is decided of a connection, and what it was decided on. */
interface Decided extends BulkEffect {
  readonly before: Connection | undefined;
}

export function bulkCorrectionsOf(engine: Engine, clock: () => Instant): BulkCorrections {
  const decide = async (
    tx: Tx,
    order: BulkOrder,
    keys: readonly ConnectionKey[],
    by: Correcting,
  ): Promise<readonly Decided[]> => {
    const [first] = keys;
    if (first === undefined) return [];
    const { environment } = first;
    const cuids = [...new Set(keys.map(({ cuid }) => cuid))];
    const ledgers = new Map<string, Ledger[]>();
    for (const ledger of await engine.readLedgers(tx, environment, cuids)) {
      const name = nameOf(ledger);
      ledgers.set(name, [...(ledgers.get(name) ?? []), ledger]);
    }
    const connections = tx.selectFrom("connection").selectAll().where("environment", "=", environment);
    const rows = await connections.where("cuid", "in", cuids).execute();
    const byName = new Map(rows.map((row) => [nameOf({ ...row, reqId: row.req_id }), row]));
    return keys.map((connection) => {
      const name = nameOf(connection);
      const its = ledgers.get(name) ?? [];
      const row = byName.get(name);
      const before = row && { ...toBareConnection(row), ledgers: its.map(headOf) };
      const outcome = decideBulk(order, connection, before, its, by);
      return { connection, outcome, before, repeated: hadGoodwillLately(its, by.at.instant) };
    });
  };

  /** @returns what others are told of it. */
  const write = async (
    tx: Tx,
    order: BulkOrder,
    { connection: key, outcome, before }: Decided,
    by: Correcting,
  ): Promise<NewEvent[]> => {
    if (before === undefined) return [];
    if (outcome.kind === "granted") {
      const { plan, entry } = outcome.correction;
      await engine.appendEntry(tx, key, plan, entry);
      const after = withHead(before, { plan, seq: entry.seq, subscription: entry.after });
      return [eventOf("subscription.changed", by.at.instant, key, after)];
    }
    if (outcome.kind !== "done" || outcome.audited === undefined) return [];
    await writeBlock(tx, key, order.action === "block", by);
    return blockEvents(key, before, order.action === "block", by);
  };

  return {
    async preview(order, keys, by) {
      return (await decide(engine.db, order, keys, by)).map(effectOf);
    },

    async announce(order, keys, by) {
      const [first] = keys;
      if (first === undefined) return;
      const change = bulkAnnounced(order, first.environment, keys);
      await engine.transact((tx) => appendAudit(engine, tx, change, attributionOf(by)));
    },

    apply: (order, keys, by) =>
      engine.transact(async (tx) => {
        await engine.lockCustomers(tx, keys);
        const decided = await decide(tx, order, keys, by);
        const events: NewEvent[] = [];
        for (const each of decided) events.push(...(await write(tx, order, each, by)));
        // As with an entry of the trail: no change misses a target that was there before it.
        await lockTrail(engine, tx, attributionOf(by));
        await appendEvents(engine, tx, events);
        refuseLate(by, clock);
        return decided.map(effectOf);
      }),
  };
}

function effectOf({ connection, outcome, repeated }: Decided): BulkEffect {
  return { connection, outcome, repeated };
}

function nameOf({ cuid, service, reqId }: Pick<ConnectionKey, "cuid" | "service" | "reqId">): string {
  return JSON.stringify([cuid, service, reqId]);
}
