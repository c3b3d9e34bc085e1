import type { Kysely } from "kysely";
import { historyPruned, horizonMoved } from "../../domain/audit.ts";
import { checkoutIssuedAt } from "../../domain/checkout.ts";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import { type Entry, keptEntries } from "../../domain/ledger.ts";
import type { Instant, Moment } from "../../domain/wall-time.ts";
import type { Zone } from "../../domain/zone.ts";
import type { Engine } from "../engine.ts";
import { putOnlyRow } from "../only-row.ts";
import type { PruneCursor, Pruned, Retention } from "../retention.ts";
import type { Tables } from "../tables.ts";
import { appendAudit } from "./audit.ts";
import { CUSTOMERS_AT_ONCE, type CustomerLedger, nextCuids, readLedgers } from "./ledgers.ts";

const RETIRED_AT_ONCE = 1_000;

export function retentionOf(engine: Engine, zone: Zone): Retention {
  const { db } = engine;
  return {
    prunedBefore: () => readHorizon(db),

    moveHorizon: (before, by) =>
      engine.change(async (tx) => {
        const former = await readHorizon(tx);
        if (former !== undefined && former >= before) return;
        await putOnlyRow(tx, "retention", { pruned_before: before });
        await appendAudit(engine, tx, horizonMoved(former, before), by);
      }),

    async pruneLedgers(before, after = { environment: ENVIRONMENTS[0], cuid: "" }, dryRun) {
      const { environment } = after;
      const cuids = await nextCuids(db, environment, after.cuid);
      const horizon = zone.moment(before);
      const found = await findGone(engine, db, environment, cuids, horizon);
      const concerned = [...new Set(found.map(({ cuid }) => cuid))];
      const gone = dryRun || concerned.length === 0 ? found : await prune(engine, environment, concerned, horizon);
      return { pruned: countGone(gone), next: nextCursor(environment, cuids) };
    },

    async pruneRetired(before, after = "", dryRun) {
      const page = await db
        .selectFrom("retired_checkout")
        .selectAll()
        .where("checkout_id", ">", after)
        .orderBy("checkout_id")
        .limit(RETIRED_AT_ONCE)
        .execute();
      const gone = page
        .filter(({ checkout_id: checkoutId, at }) => at < before && (checkoutIssuedAt(checkoutId) ?? 0) < before)
        .map(({ checkout_id: checkoutId }) => checkoutId);
      if (!dryRun && gone.length > 0)
        await engine.transact((tx) => tx.deleteFrom("retired_checkout").where("checkout_id", "in", gone).execute());
      const next = page.length < RETIRED_AT_ONCE ? undefined : page.at(-1)?.checkout_id;
      return { pruned: { entries: 0, topUps: 0, retiredCheckouts: gone.length }, next };
    },

    recordPruned: (pruned, by) => engine.transact((tx) => appendAudit(engine, tx, historyPruned(pruned), by)),
  };
}

async function readHorizon(db: Kysely<Tables>): Promise<Instant | undefined> {
  return (await db.selectFrom("retention").select("pruned_before").executeTakeFirst())?.pruned_before;
}

/** A ledger, and what may go of its beginning: one entry or more. */
interface Gone extends CustomerLedger {
  readonly gone: readonly Entry[];
  /** The number of the first entry that stays. */
  readonly firstKept: number;
}

async function findGone(
  engine: Engine,
  tx: Kysely<Tables>,
  environment: Environment,
  cuids: readonly string[],
  horizon: Moment,
): Promise<Gone[]> {
  const ledgers = await readLedgers(engine, tx, environment, cuids);
  return ledgers.flatMap((ledger) => {
    const [first] = keptEntries(ledger.entries, horizon);
    const gone = ledger.entries.filter(({ seq }) => first !== undefined && seq < first.seq);
    return first === undefined || gone.length === 0 ? [] : [{ ...ledger, gone, firstKept: first.seq }];
  });
}

/** Looks again at those of whom something may go, in order with all else that happens to them, and lets go of it. */
function prune(engine: Engine, environment: Environment, cuids: readonly string[], horizon: Moment): Promise<Gone[]> {
  return engine.transact(async (tx) => {
    await engine.lockCustomers(
      tx,
      cuids.map((cuid) => ({ environment, cuid })),
    );
    const all = await findGone(engine, tx, environment, cuids, horizon);
    for (const ledger of all) {
      await engine.deleteEntries(tx, ledger, ledger.plan, ledger.firstKept);
      const txnIds = txnIdsOf(ledger.gone);
      if (txnIds.length === 0) continue;
      await tx.deleteFrom("reversal").where("txn_id", "in", txnIds).execute();
      await tx.deleteFrom("top_up").where("txn_id", "in", txnIds).execute();
    }
    return all;
  });
}

function nextCursor(environment: Environment, cuids: readonly string[]): PruneCursor | undefined {
  const last = cuids.at(-1);
  if (last !== undefined && cuids.length === CUSTOMERS_AT_ONCE) return { environment, cuid: last };
  const next = ENVIRONMENTS[ENVIRONMENTS.indexOf(environment) + 1];
  return next && { environment: next, cuid: "" };
}

function countGone(all: readonly Gone[]): Pruned {
  const entries = all.flatMap(({ gone }) => gone);
  return { entries: entries.length, topUps: txnIdsOf(entries).length, retiredCheckouts: 0 };
}

function txnIdsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === "top_up" ? [entry.txnId] : []));
}
