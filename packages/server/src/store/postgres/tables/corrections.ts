import type { AuditedChange } from "../../../domain/audit.ts";
import type { Instant } from "../../../domain/calendar.ts";
import { customerDigest, customerDigestIn } from "../../../domain/checkout.ts";
import {
  type BlockOutcome,
  type Correction,
  decideBlock,
  decideGoodwill,
  decideReversal,
  type GoodwillCommand,
  type GoodwillOutcome,
  type ReversalOutcome,
} from "../../../domain/correction.ts";
import type { Connection, ConnectionKey } from "../../../domain/customer.ts";
import type { StatedReversal } from "../../../domain/history-row.ts";
import { decideTakeBack, type TakeBackOutcome } from "../../../domain/take-back.ts";
import type { Transaction } from "../../../domain/top-up.ts";
import { reversalColumns, type TopUpRow, toTransaction } from "../../common/rows.ts";
import { timeLeftToCorrect } from "../../common/settling.ts";
import { type LedgerRow, toLedgers } from "../../common/transaction-search.ts";
import type { Corrections, ReasonedAttribution } from "../../corrections.ts";
import type { ProviderSettings } from "../../store.ts";
import type { Database } from "../session/database.ts";
import { type Prepared, type Query, type Session, WAITS } from "../session/session.ts";
import { auditing } from "./audit.ts";
import { type ConnectionRows, gatherConnections } from "./batch-snapshot.ts";
import { columnsOf, insertRows } from "./columns.ts";
import { appendEntries, CONNECTION_KEY, connectionKey } from "./ledger.ts";
import { LEDGERS } from "./search.ts";
import { CONNECTIONS, FIND, LOCK_CUSTOMERS } from "./top-ups.ts";

/** Holds the top-up: where it was imported, its customer may have no row here by which to hold it. */
const HOLD: Prepared = { name: "top_up_hold", text: `${FIND.text} FOR NO KEY UPDATE` };
const MARK_REVERSED: Prepared = {
  name: "top_up_reverse",
  text: "UPDATE top_up SET status = 'reversed' WHERE customer_digest = $1 AND checkout_id = $2",
};
export const ADD_REVERSALS = insertRows("reversal", [
  ["customer_digest", "bigint"],
  ["checkout_id", "text"],
  ["txn_id", "text"],
  ["partner_id", "integer"],
  ["environment", "text"],
  ["service", "text"],
  ["bouquet_code", "text"],
  ["amount", "bigint"],
  ["at", "bigint"],
  ["author", "text"],
  ["reason", "text"],
]);
const SET: Readonly<Record<"topped_up" | "blocked", Prepared>> = {
  topped_up: setting("topped_up"),
  blocked: setting("blocked"),
};

function setting(column: string): Prepared {
  const key = CONNECTION_KEY.map(([name], index) => `${name} = $${index + 1}`).join(" AND ");
  return { name: `connection_${column}`, text: `UPDATE connection SET ${column} = $6 WHERE ${key}` };
}

/** The SQL of corrections. Each holds its customer, as top-ups do, and so comes before or after each of them. */
export class CorrectionTables implements Corrections {
  readonly #database: Database;
  readonly #provider: ProviderSettings;
  readonly #clock: () => Instant;

  constructor(database: Database, provider: ProviderSettings, clock: () => Instant) {
    this.#database = database;
    this.#provider = provider;
    this.#clock = clock;
  }

  async reverse(checkoutId: string, by: ReasonedAttribution, made?: StatedReversal): Promise<ReversalOutcome> {
    const digest = customerDigestIn(checkoutId);
    if (digest === undefined) return { kind: "not_found" };
    return this.#correct<ReversalOutcome>(digest, by, async (session) => {
      const [row] = await session.run<TopUpRow>(HOLD, [digest, checkoutId]);
      const transaction = row && toTransaction(row);
      const connection = transaction && (await findConnection(session, transaction));
      const ledgers = transaction === undefined ? [] : await findLedgers(session, transaction);
      const outcome = decideReversal({ transaction, connection, ledgers }, by.at, this.#provider.calendar, made);
      if (outcome.kind !== "reversed" && outcome.kind !== "reversed_on_record") return [outcome];
      const ledger = outcome.kind === "reversed" ? writesOf(outcome) : [];
      return [outcome, outcome.audited, ...markReversed(digest, outcome.transaction, made ?? by), ...ledger];
    });
  }

  grantGoodwill(command: GoodwillCommand, by: ReasonedAttribution): Promise<GoodwillOutcome> {
    return this.#correct<GoodwillOutcome>(customerDigest(command), by, async (session) => {
      const connection = await findConnection(session, command);
      const ledgers = await findLedgers(session, command);
      const outcome = decideGoodwill({ connection, ledgers }, command, by.at, this.#provider.calendar);
      return outcome.kind === "granted" ? [outcome, outcome.audited, ...writesOf(outcome)] : [outcome];
    });
  }

  takeBackGoodwill(command: GoodwillCommand, by: ReasonedAttribution): Promise<TakeBackOutcome> {
    return this.#correct<TakeBackOutcome>(customerDigest(command), by, async (session) => {
      const connection = await findConnection(session, command);
      const ledgers = await findLedgers(session, command);
      const outcome = decideTakeBack({ connection, ledgers }, command, by.at, this.#provider.calendar);
      return outcome.kind === "taken_back" ? [outcome, outcome.audited, ...writesOf(outcome)] : [outcome];
    });
  }

  setBlocked(key: ConnectionKey, blocked: boolean, by: ReasonedAttribution): Promise<BlockOutcome> {
    return this.#correct<BlockOutcome>(customerDigest(key), by, async (session) => {
      const outcome = decideBlock(await findConnection(session, key), key, blocked);
      if (outcome.kind !== "done" || outcome.audited === undefined) return [outcome];
      return [outcome, outcome.audited, [SET.blocked, [...connectionKey(key), blocked]]];
    });
  }

  /** @param decide gives the outcome, and where something is to be written, what of it is audited and the writes. */
  async #correct<Outcome>(
    digest: number,
    by: ReasonedAttribution,
    decide: (session: Session) => Promise<readonly [Outcome] | readonly [Outcome, AuditedChange, ...Query[]]>,
  ): Promise<Outcome> {
    return this.#database.transactPatiently([[LOCK_CUSTOMERS, [[digest]]]], async (_, session) => {
      // By PostgreSQL's clock, the time that is left is counted from the transaction's beginning, which was before.
      const withinMs = Math.min(timeLeftToCorrect(by.at, this.#clock()), WAITS.transaction);
      const [outcome, audited, ...writes] = await decide(session);
      if (audited !== undefined) {
        await session.runAll(writes);
        const audit = await auditing(session, [audited], by);
        timeLeftToCorrect(by.at, this.#clock());
        await session.commit(audit, withinMs);
      }
      return outcome;
    });
  }
}

async function findConnection(session: Session, key: ConnectionKey): Promise<Connection | undefined> {
  const rows = await session.run<ConnectionRows>(CONNECTIONS, columnsOf(CONNECTION_KEY.length, [connectionKey(key)]));
  return [...gatherConnections(rows).values()][0];
}

async function findLedgers(session: Session, key: ConnectionKey) {
  return toLedgers(await session.run<LedgerRow>(LEDGERS, connectionKey(key)));
}

function markReversed(digest: number, transaction: Transaction, made: StatedReversal): Query[] {
  return [
    [MARK_REVERSED, [digest, transaction.checkoutId]],
    ADD_REVERSALS([[digest, ...reversalColumns(transaction, made)]]),
  ];
}

function writesOf({ key, plan, grant, after, toppedUp }: Correction): Query[] {
  return [
    ...appendEntries([{ key, plan, grant, subscription: after }]),
    ...(toppedUp === undefined ? [] : [[SET.topped_up, [...connectionKey(key), toppedUp]] as const]),
  ];
}
