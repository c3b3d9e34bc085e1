import type { TokenState } from "../../domain/access-token.ts";
import type { TopUpCommand, TopUpSnapshot, Transaction } from "../../domain/top-up.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { type TokenStateRow, toTokenState } from "../access.ts";
import { TOP_UP_COLUMNS, toTransaction } from "../rows.ts";
import {
  type RecordedTopUp,
  type Settled,
  type SettlingItem,
  type SettlingReads,
  type SettlingWrites,
  settleBatch,
} from "../settling.ts";
import type { Outcome, ProviderSettings } from "../store.ts";
import type { Raw, TopUpRow } from "../tables.ts";
import type { ConnectionToTopUp, CustomerTables } from "./customers.ts";
import type { Database } from "./database.ts";
import { eventInsertion, FIND_TARGET } from "./events.ts";
import { topUpAppending } from "./ledgers.ts";
import type { SqliteReferenceCache } from "./reference-cache.ts";

const FIND = `SELECT ${TOP_UP_COLUMNS.join(", ")} FROM top_up WHERE checkout_id = ?`;
const INSERT = `INSERT INTO top_up (${TOP_UP_COLUMNS.join(", ")}) VALUES (${TOP_UP_COLUMNS.map(() => "?").join(", ")})`;
const FIND_RETIRED = "SELECT at FROM retired_checkout WHERE checkout_id = ?";
const RETIRE =
  "INSERT INTO retired_checkout (checkout_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)";
const FIND_TOKEN = `SELECT t.expires_at AS "expiresAt", t.revoked_at AS "revokedAt", p.status
  FROM access_token AS t JOIN partner AS p ON p.id = t.partner_id WHERE t.id = ?`;
/** What is on record with a checkout: a top-up, that it was retired, or both. */
const ON_RECORD = `SELECT 'top_up' AS what FROM top_up WHERE checkout_id = ?1
  UNION ALL SELECT 'retired' FROM retired_checkout WHERE checkout_id = ?1`;
const HORIZON = "SELECT pruned_before FROM retention";

export interface TopUpParts {
  readonly database: Database;
  readonly provider: ProviderSettings;
  readonly clock: () => Instant;
  readonly customers: CustomerTables;
  readonly reference: SqliteReferenceCache;
}

/** What a top-up depends on, and what its entry is appended to. */
interface Snapshot extends TopUpSnapshot {
  readonly lastEntryOf: ConnectionToTopUp["lastEntryOf"];
}

/** The SQL of top-ups. */
export function topUpTables({ database, provider, clock, customers, reference }: TopUpParts) {
  const findRow = database.prepareRows<Raw<TopUpRow>>(FIND);
  const insertRow = database.prepare(INSERT);
  const findRetired = database.prepareRows<{ at: Instant }>(FIND_RETIRED);
  const retire = database.prepare(RETIRE);
  const findToken = database.prepareRows<TokenStateRow>(FIND_TOKEN);
  const horizon = database.prepareRows<{ pruned_before: Instant }>(HORIZON);
  const onRecord = database.prepareRows<{ what: "top_up" | "retired" }>(ON_RECORD);
  const append = topUpAppending(database);
  const findTarget = database.prepareRows(FIND_TARGET);
  const find = (checkoutId: string): Transaction | undefined => findRow(checkoutId).map(toTransaction)[0];
  const findRetiredAt = (checkoutId: string): Instant | undefined => findRetired(checkoutId)[0]?.at;
  const findHorizon = (): Instant | undefined => horizon()[0]?.pruned_before;

  /** Reads each token once: a batch has many top-ups of few. */
  const tokensOfBatch = () => {
    const found = new Map<string, TokenState | undefined>();
    return (id: string): TokenState | undefined => {
      if (!found.has(id)) found.set(id, findToken(id).map(toTokenState)[0]);
      return found.get(id);
    };
  };

  const readsOfBatch = (): SettlingReads<Snapshot> => {
    const token = tokensOfBatch();
    return {
      basePlans: provider.basePlans,
      hasTarget: findTarget().length > 0,
      snapshot(command: TopUpCommand): Snapshot {
        const { checkoutId, checkout } = command;
        const { found, lastEntryOf } = customers.findToTopUp(command);
        const recorded = onRecord(checkoutId);
        return {
          recorded: recorded.some(({ what }) => what === "top_up") ? find(checkoutId) : undefined,
          token,
          retired: recorded.some(({ what }) => what === "retired"),
          customerStatus: found?.profile.status,
          connection: found?.connection,
          prunedBefore: findHorizon,
          catalogue: () => reference.readCatalogue(checkout.revision),
          lastEntryOf,
        };
      },
      transaction: find,
      retiredAt: findRetiredAt,
      prunedBefore: findHorizon,
    };
  };

  const write: SettlingWrites<Snapshot> = {
    record({ transaction, plan, entry }: RecordedTopUp, { lastEntryOf }) {
      append(transaction, plan, entry, lastEntryOf(plan));
      const { checkoutId, txnId, partnerId, environment, cuid, service, reqId, bouquetCode, udf1, udf2 } = transaction;
      const { amount, at, txnDate, status } = transaction;
      insertRow.run(
        checkoutId,
        txnId,
        partnerId,
        environment,
        cuid,
        service,
        reqId,
        bouquetCode,
        Number(amount),
        at,
        txnDate,
        status,
        udf1 ?? null,
        udf2 ?? null,
      );
    },
    appendEvent: eventInsertion(database),
    retire: (checkoutId, at) => void retire.run(checkoutId, at),
  };

  return {
    find,

    /** To be called outside of any view: once a top-up is recorded it stays so, and is not retired any more. */
    findOutcome(checkoutId: string): Outcome {
      const found = find(checkoutId);
      if (found !== undefined) return found;
      const retiredAt = findRetiredAt(checkoutId);
      return retiredAt === undefined ? undefined : { retiredAt };
    },

    /** Settles a batch in one write transaction: an outcome for each item, in order. */
    settle: (items: readonly SettlingItem[]): Promise<Settled[]> =>
      database.write(() => settleBatch({ items, read: readsOfBatch(), write, zone: provider.zone, clock })),
  };
}
