import type { AuditedChange } from "../../../domain/audit.ts";
import type { Calendar, Instant } from "../../../domain/calendar.ts";
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
import type { ConnectionKey } from "../../../domain/customer.ts";
import type { StatedReversal } from "../../../domain/history-row.ts";
import { decideTakeBack, type TakeBackOutcome } from "../../../domain/take-back.ts";
import type { Transaction } from "../../../domain/top-up.ts";
import { REVERSAL_COLUMNS, reversalColumns } from "../../common/rows.ts";
import { timeLeftToCorrect } from "../../common/settling.ts";
import { type LedgerRow, toLedgers } from "../../common/transaction-search.ts";
import type { Corrections, ReasonedAttribution } from "../../corrections.ts";
import type { Database } from "../database.ts";
import type { SettlingRules } from "../settling/settling.ts";
import type { Tables } from "./all-tables.ts";
import { OF_CONNECTION } from "./customers.ts";
import { LEDGERS } from "./search.ts";

/** The SQL of corrections. */
export class CorrectionTables implements Corrections {
  readonly #database: Database;
  readonly #tables: Tables;
  readonly #calendar: Calendar;
  readonly #clock: () => Instant;

  constructor(database: Database, tables: Tables, { calendar, clock }: SettlingRules) {
    this.#database = database;
    this.#tables = tables;
    this.#calendar = calendar;
    this.#clock = clock;
  }

  reverse(checkoutId: string, by: ReasonedAttribution, made?: StatedReversal): Promise<ReversalOutcome> {
    return this.#correct(by, () => {
      const transaction = this.#tables.topUps.find(checkoutId);
      const connection = transaction && this.#tables.customers.findConnection(transaction)?.connection;
      const ledgers = transaction === undefined ? [] : this.#ledgers(transaction);
      const outcome = decideReversal({ transaction, connection, ledgers }, by.at, this.#calendar, made);
      if (outcome.kind === "reversed") {
        this.#markReversed(outcome.transaction, made ?? by);
        this.#write(outcome, by);
      }
      if (outcome.kind === "reversed_on_record") {
        this.#markReversed(outcome.transaction, made ?? by);
        this.#audit(outcome.audited, by);
      }
      return outcome;
    });
  }

  grantGoodwill(command: GoodwillCommand, by: ReasonedAttribution): Promise<GoodwillOutcome> {
    return this.#correct(by, () => {
      const connection = this.#tables.customers.findConnection(command)?.connection;
      const ledgers = this.#ledgers(command);
      const outcome = decideGoodwill({ connection, ledgers }, command, by.at, this.#calendar);
      if (outcome.kind === "granted") this.#write(outcome, by);
      return outcome;
    });
  }

  takeBackGoodwill(command: GoodwillCommand, by: ReasonedAttribution): Promise<TakeBackOutcome> {
    return this.#correct(by, () => {
      const connection = this.#tables.customers.findConnection(command)?.connection;
      const outcome = decideTakeBack({ connection, ledgers: this.#ledgers(command) }, command, by.at, this.#calendar);
      if (outcome.kind === "taken_back") this.#write(outcome, by);
      return outcome;
    });
  }

  setBlocked(key: ConnectionKey, blocked: boolean, by: ReasonedAttribution): Promise<BlockOutcome> {
    return this.#correct(by, () => {
      const connection = this.#tables.customers.findConnection(key)?.connection;
      const outcome = decideBlock(connection, key, blocked);
      if (outcome.kind === "done" && outcome.audited !== undefined) {
        this.#set("blocked", blocked, key);
        this.#audit(outcome.audited, by);
      }
      return outcome;
    });
  }

  async #correct<Outcome>(by: ReasonedAttribution, work: () => Outcome): Promise<Outcome> {
    return this.#database.write(() => {
      const outcome = work();
      timeLeftToCorrect(by.at, this.#clock());
      return outcome;
    });
  }

  #ledgers({ cuid, environment, service, reqId }: ConnectionKey) {
    const rows = this.#database.prepare(LEDGERS).all(cuid, environment, service, reqId);
    return toLedgers(rows as unknown as LedgerRow[]);
  }

  #markReversed(transaction: Transaction, made: StatedReversal): void {
    const { checkoutId } = transaction;
    this.#database.prepare("UPDATE top_up SET status = 'reversed' WHERE checkout_id = ?").run(checkoutId);
    this.#database
      .prepare(`INSERT INTO reversal (${REVERSAL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .run(...reversalColumns(transaction, made));
  }

  #write({ key, plan, grant, after, toppedUp, audited }: Correction, by: ReasonedAttribution): void {
    this.#tables.subscriptions.append(key, plan, grant, after);
    if (toppedUp !== undefined) this.#set("topped_up", toppedUp, key);
    this.#audit(audited, by);
  }

  #set(column: "topped_up" | "blocked", value: boolean, { cuid, environment, service, reqId }: ConnectionKey): void {
    this.#database
      .prepare(`UPDATE customer_row SET ${column} = ? WHERE ${OF_CONNECTION}`)
      .run(value ? 1 : 0, cuid, environment, service, reqId);
  }

  #audit(change: AuditedChange, by: ReasonedAttribution): void {
    this.#tables.audit.append(change, by);
  }
}
