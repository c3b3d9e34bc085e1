import type { TokenState } from "../../domain/access-token.ts";
import { concludeUnused } from "../../domain/checkout.ts";
import { type Connection, withHead } from "../../domain/customer.ts";
import { eventOf } from "../../domain/event.ts";
import { decideTopUp, type TopUpCommand, type TopUpOutcome, type Transaction } from "../../domain/top-up.ts";
import type { Instant, Moment } from "../../domain/wall-time.ts";
import { type TokenStateRow, toTokenState } from "../back-office/access.ts";
import { refuseIfTooLate, type Settled, type SettlingItem } from "../batcher.ts";
import { TOP_UP_COLUMNS, toTransaction } from "../rows.ts";
import type { Conclusion, Outcome, ProviderSettings } from "../store.ts";
import type { TopUpRow } from "../tables.ts";
import type { CustomerTables } from "./customers.ts";
import type { Database } from "./database.ts";
import { eventInsertion, FIND_TARGET } from "./events.ts";
import { topUpAppending } from "./ledgers.ts";
import type { ReferenceTables } from "./reference.ts";

const FIND = `SELECT ${TOP_UP_COLUMNS.join(", ")} FROM top_up WHERE checkout_id = ?`;
const INSERT = `INSERT INTO top_up (${TOP_UP_COLUMNS.join(", ")}) VALUES (${TOP_UP_COLUMNS.map(() => "?").join(", ")})`;
const FIND_RETIRED = "SELECT at FROM retired_checkout WHERE checkout_id = ?";
const RETIRE =
  "INSERT INTO retired_checkout (checkout_id, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = max(at, excluded.at)";
const FIND_TOKEN = `SELECT t.expires_at, t.revoked_at, p.status
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
  readonly reference: ReferenceTables;
}

/** What all top-ups of a batch share. */
interface BatchParts {
  readonly now: Moment;
  readonly hasTarget: boolean;
  readonly tokenOf: (tokenId: string) => TokenState | undefined;
}

type RecordedTopUp = Extract<TopUpOutcome, { kind: "recorded" }>;

/** The SQL of top-ups. */
export function topUpTables({ database, provider, clock, customers, reference }: TopUpParts) {
  const findRow = database.prepareRows<TopUpRow>(FIND);
  const insertRow = database.prepare(INSERT);
  const findRetired = database.prepareRows<{ at: Instant }>(FIND_RETIRED);
  const retire = database.prepare(RETIRE);
  const findToken = database.prepareRows<TokenStateRow>(FIND_TOKEN);
  const horizon = database.prepareRows<{ pruned_before: Instant }>(HORIZON);
  const onRecord = database.prepareRows<{ what: "top_up" | "retired" }>(ON_RECORD);
  const append = topUpAppending(database);
  const findTarget = database.prepareRows(FIND_TARGET);
  const insertEvent = eventInsertion(database);
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

  const topUp = (command: TopUpCommand, { now, hasTarget, tokenOf }: BatchParts): TopUpOutcome => {
    const { checkoutId, checkout } = command;
    const { found, lastEntryOf } = customers.findToTopUp(command);
    const recorded = onRecord(checkoutId);
    const retired = recorded.some(({ what }) => what === "retired");
    const snapshot = {
      recorded: recorded.some(({ what }) => what === "top_up") ? find(checkoutId) : undefined,
      token: tokenOf,
      retired,
      customerStatus: found?.profile.status,
      connection: found?.connection,
      prunedBefore: findHorizon,
      catalogue: () => reference.readCatalogue(checkout.revision),
    };
    const outcome = decideTopUp(snapshot, command, now, provider.basePlans);
    if (outcome.kind === "recorded") {
      record(outcome, lastEntryOf(outcome.plan));
      if (hasTarget) tell(outcome, found?.connection as Connection);
    }
    if (outcome.kind === "refused" && outcome.retires && !retired) retire.run(checkoutId, now.instant);
    return outcome;
  };

  const record = ({ transaction, plan, entry }: RecordedTopUp, lastEntry: number | undefined): void => {
    append(transaction, plan, entry, lastEntry);
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
  };

  const tell = ({ transaction, plan, entry }: RecordedTopUp, before: Connection): void => {
    const after = withHead(before, { plan, seq: entry.seq, subscription: entry.after });
    insertEvent(eventOf("topup.recorded", transaction.at, transaction, after, transaction));
  };

  const conclude = (checkoutId: string, now: Instant): Conclusion => {
    const recorded = find(checkoutId);
    if (recorded !== undefined) return recorded;
    const conclusion = concludeUnused(checkoutId, findRetiredAt(checkoutId), findHorizon(), now);
    if (conclusion === "retire") retire.run(checkoutId, now);
    return conclusion === "pruned" ? conclusion : undefined;
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

    /** Loads, decides and writes a batch in one write transaction, at one time: what became of each item, in order. */
    settle: (batch: readonly SettlingItem[]): Promise<Settled[]> =>
      database.write(() => {
        const now = provider.zone.moment(clock());
        const hasTarget = findTarget().length > 0;
        const parts = { now, hasTarget, tokenOf: tokensOfBatch() };
        const settled = batch.map((item) =>
          item.kind === "top_up" ? topUp(item.command, parts) : conclude(item.checkoutId, now.instant),
        );
        refuseIfTooLate(now.instant, clock());
        return settled;
      }),
  };
}
