import { historyPruned, horizonMoved } from "../../domain/audit.ts";
import { checkoutIssuedAt } from "../../domain/checkout.ts";
import { ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import type { Entry } from "../../domain/ledger.ts";
import { keptEntries } from "../../domain/ledger-retention.ts";
import type { Instant, Moment } from "../../domain/wall-time.ts";
import { CUSTOMERS_AT_ONCE, type CustomerLedger, nextCuids, readLedgers } from "../../store/customers.ts";
import type { Db } from "../../store/engine.ts";
import { putOnlyRow, readHorizon } from "../../store/settings.ts";
import { atNow, type Decider, decide } from "../decide.ts";

/* Pruning first moves the horizon, then deletes the history before it in portions. */

const RETIRED_AT_ONCE = 1_000;

export interface Pruned {
  readonly entries: number;
  readonly topUps: number;
  readonly retiredCheckouts: number;
}

/** Moves the horizon, before which history may be deleted. It never moves back. */
export async function moveHorizon(office: Decider, before: Instant): Promise<void> {
  await decide(office, "reference", async (tx) => {
    const former = await readHorizon(tx);
    if (former !== undefined && former >= before) return { answer: undefined };
    const write = () => putOnlyRow(tx, "retention", { prunedBefore: before });
    return { answer: undefined, change: { write, audit: [horizonMoved(former, before)] } };
  });
}

/**
 * Deletes history that no subscription needs, each portion in its own transaction. The next run continues an interrupted one.
 * @param before not later than the horizon, unless it is a preview.
 */
export async function pruneHistory(office: Decider, before: Instant): Promise<Pruned> {
  const pruned = { entries: 0, topUps: 0, retiredCheckouts: 0 };
  for await (const gone of goneLedgers(office, office.store.provider.zone.moment(before))) {
    pruned.entries += gone.length;
    pruned.topUps += txnIdsOf(gone).length;
  }
  for await (const retired of goneCheckouts(office, before)) pruned.retiredCheckouts += retired;
  const isAny = pruned.entries + pruned.topUps + pruned.retiredCheckouts > 0;
  if (isAny)
    await decide(atNow(office), [], async () => {
      return { answer: undefined, change: { write: async () => {}, audit: [historyPruned(pruned)] } };
    });
  return pruned;
}

async function* goneLedgers(office: Decider, horizon: Moment): AsyncGenerator<readonly Entry[]> {
  const { db } = office.store.engine;
  for (const environment of ENVIRONMENTS)
    for (let after: string | undefined = ""; after !== undefined; ) {
      const cuids: string[] = await nextCuids(db, environment, after);
      const found = await findGone(office, db, environment, cuids, horizon);
      const concerned = [...new Set(found.map(({ cuid }) => cuid))];
      if (concerned.length > 0) yield await deleteGone(office, environment, concerned, horizon);
      after = cuids.length < CUSTOMERS_AT_ONCE ? undefined : cuids.at(-1);
    }
}

/** A ledger, and its first entries that may be deleted: at least one. */
interface Gone extends CustomerLedger {
  readonly gone: readonly Entry[];
  /** The number of the first entry that stays. */
  readonly firstKept: number;
}

async function findGone(
  { store: { engine } }: Decider,
  db: Db,
  environment: Environment,
  cuids: readonly string[],
  horizon: Moment,
): Promise<Gone[]> {
  const ledgers = await readLedgers(engine, db, environment, cuids);
  return ledgers.flatMap((ledger) => {
    const [first] = keptEntries(ledger.entries, horizon);
    const gone = ledger.entries.filter(({ seq }) => first !== undefined && seq < first.seq);
    return first === undefined || gone.length === 0 ? [] : [{ ...ledger, gone, firstKept: first.seq }];
  });
}

/** Decides again with the customers locked, and deletes. */
function deleteGone(office: Decider, environment: Environment, cuids: readonly string[], horizon: Moment) {
  const { engine } = office.store;
  const customers = cuids.map((cuid) => ({ environment, cuid }));
  return decide(atNow(office), customers, async (tx) => {
    const all = await findGone(office, tx, environment, cuids, horizon);
    const write = async () => {
      for (const ledger of all) {
        await engine.deleteEntries(tx, ledger, ledger.plan, ledger.firstKept);
        const txnIds = txnIdsOf(ledger.gone);
        if (txnIds.length === 0) continue;
        await tx.deleteFrom("reversal").where("txnId", "in", txnIds).execute();
        await tx.deleteFrom("sale").where("txnId", "in", txnIds).execute();
        await tx.deleteFrom("topUp").where("txnId", "in", txnIds).execute();
        await tx.deleteFrom("approval").where("kind", "=", "reversal").where("subject", "in", txnIds).execute();
      }
    };
    return { answer: all.flatMap(({ gone }) => gone), change: { write, audit: [] } };
  });
}

/** Deletes retired checkouts that are too old to be used, and yields their number. */
async function* goneCheckouts(office: Decider, before: Instant): AsyncGenerator<number> {
  for (let after: string | undefined = ""; after !== undefined; ) {
    const page = await retiredAfter(office.store.engine.db, after);
    const gone = page
      .filter(({ checkoutId: id, at }) => at < before && (checkoutIssuedAt(id) ?? 0) < before)
      .map(({ checkoutId: id }) => id);
    if (gone.length > 0)
      await decide(atNow(office), [], async (tx) => {
        const write = () => tx.deleteFrom("retiredCheckout").where("checkoutId", "in", gone).execute();
        return { answer: undefined, change: { write, audit: [] } };
      });
    yield gone.length;
    after = page.length < RETIRED_AT_ONCE ? undefined : page.at(-1)?.checkoutId;
  }
}

function retiredAfter(db: Db, id: string) {
  const query = db.selectFrom("retiredCheckout").selectAll().where("checkoutId", ">", id);
  return query.orderBy("checkoutId").limit(RETIRED_AT_ONCE).execute();
}

function txnIdsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.kind === "top_up" ? [entry.txnId] : []));
}
