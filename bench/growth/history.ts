import { randomFillSync } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { DAY_MS } from "../../packages/server/src/domain/calendar.ts";
import { CHECKOUT_NONCE_BYTES, issueCheckout } from "../../packages/server/src/domain/checkout.ts";
import type { CheckoutSecret } from "../../packages/server/src/domain/checkout-secret.ts";
import type { ConnectionKey } from "../../packages/server/src/domain/customer.ts";
import type { Transaction } from "../../packages/server/src/domain/top-up.ts";
import { formatTransactionId, TRANSACTION_ID_RANDOM_BYTES } from "../../packages/server/src/domain/transaction-id.ts";
import {
  GRANT_COLUMNS,
  grantColumns,
  TOP_UP_COLUMNS,
  topUpColumns,
} from "../../packages/server/src/store/common/rows.ts";
import { Database } from "../../packages/server/src/store/sqlite/database.ts";
import type { Target } from "../bodies.ts";
import { connectionOf, PRICE } from "../world.ts";

/*
 * A past of top-ups, written into the file while no service runs. Sending ten million of them to the service would
 * take the better part of an hour, and none could be older than now; `topupd copy` would have to be given a file
 * that holds them already. So the rows are written by SQL, with what the service itself would put into each column,
 * but without a journal on disk and each table in the order of its keys. What they amount to is left to SQLite. `topupd
 * check` tells whether all that made what the service would have made.
 */

/** A customer has none to four of them. */
const MOST_EACH = 4;
const MEAN_EACH = MOST_EACH / 2;
/** Over so many days before the customers were imported, unless others are asked for. */
const DAYS = 90;
/** One in so many is asked for later. */
const NAMED_EVERY = 101;
/** Customers in one transaction: between two of them, the bench hears that it is to end. */
const CUSTOMERS_AT_ONCE = 20_000;
const PREPARE = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144";

const BOUQUET = { code: "NET-1M", name: "Fiber 100 Mbps (MONTHLY)", addOn: false } as const;
const PERIOD = { months: 1, days: 0 } as const;

export interface History {
  readonly target: Target;
  readonly transactions: number;
  /** Some of the checkoutIds, from all over the time and all over the customers. */
  readonly checkoutIds: readonly string[];
}

/** Gives the customers of a new database a past. No other connection may be open. */
export async function appendHistory(path: string, customers: number, days = DAYS): Promise<History> {
  const database = new Database(path, { mustExist: true });
  try {
    database.exec(PREPARE);
    const target = readTarget(database, customers);
    const writer = new HistoryWriter(database, target, days);
    // The first top-up of everybody, then the second of everybody who has one, and so on.
    for (let turn = 0; turn < MOST_EACH; turn += 1) {
      for await (const [from, to] of ranges(customers)) inTransaction(database, () => writer.topUp(turn, from, to));
    }
    for await (const [from, to] of ranges(customers)) inTransaction(database, () => writer.fold(from, to));
    database.exec("PRAGMA journal_mode = WAL");
    return { target, transactions: writer.transactions, checkoutIds: writer.checkoutIds };
  } finally {
    database.close();
  }
}

/** The only partner, the only catalogue and the only secret that there are. */
function readTarget(database: Database, customers: number): Target {
  const row = database
    .prepare(
      `SELECT partner.id AS partnerId, revision, checkout_secret.id, key, checkout_secret.created_at AS createdAt
       FROM partner, catalogue_revision, checkout_secret`,
    )
    .get();
  const { partnerId, revision, ...secret } = row as unknown as Pick<Target, "partnerId" | "revision"> & CheckoutSecret;
  return { customers, partnerId, revision, secret };
}

class HistoryWriter {
  transactions = 0;
  readonly checkoutIds: string[] = [];
  readonly #target: Target;
  readonly #plan: string;
  readonly #begin: number;
  readonly #pauseMs: number;
  readonly #insertTopUp;
  readonly #insertGrant;
  readonly #foldSubscriptions;
  readonly #markToppedUp;

  constructor(database: Database, target: Target, days: number) {
    this.#target = target;
    const plan = database.prepare("SELECT plan FROM bouquet WHERE code = ?").get(BOUQUET.code);
    this.#plan = (plan as { plan: string }).plan;
    this.#begin = target.secret.createdAt - days * DAY_MS;
    this.#pauseMs = (days * DAY_MS) / (target.customers * MEAN_EACH);
    this.#insertTopUp = database.prepare(
      `INSERT INTO top_up (${TOP_UP_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertGrant = database.prepare(
      `INSERT INTO subscription_grant (cuid, environment, service, req_id, plan, seq, ${GRANT_COLUMNS.join(", ")})
       VALUES (?, ?, ?, ?, ?, ?, ${GRANT_COLUMNS.map(() => "?").join(", ")})`,
    );
    const counted = `(SELECT cuid, environment, service, req_id, plan, count(*) AS months FROM ledger_grant
      WHERE kind = 'top_up' AND cuid BETWEEN ? AND ? GROUP BY cuid, environment, service, req_id, plan) AS g`;
    const isCounted = (table: string) => `(${table}.cuid, ${table}.environment, ${table}.service, ${table}.req_id)
      = (g.cuid, g.environment, g.service, g.req_id)`;
    // These runs begin on the first of a month, in UTC, where SQLite's months are those of the calendar.
    const end = `unixepoch(s.start_at / 1000, 'unixepoch', '+' || (s.months + g.months) || ' months') * 1000`;
    this.#foldSubscriptions = database.prepare(
      `UPDATE customer_row AS s SET months = s.months + g.months, topped_up_months = g.months,
         end_at = ${end}, granted_end_at = ${end} FROM ${counted} WHERE ${isCounted("s")} AND s.level = 2 AND s.plan = g.plan`,
    );
    this.#markToppedUp = database.prepare(
      `UPDATE customer_row AS n SET topped_up = 1 FROM ${counted} WHERE ${isCounted("n")} AND n.level = 1`,
    );
  }

  /** The top-up that is a customer's own `turn`th, of all from one customer to before another. */
  topUp(turn: number, from: number, to: number): void {
    for (let index = from; index < to; index += 1) {
      if (turn < topUpsOf(index)) this.#record(turn, index);
    }
  }

  /** What the new grants amount to. */
  fold(from: number, to: number): void {
    const range = [connectionOf(from).cuid, connectionOf(to - 1).cuid];
    this.#foldSubscriptions.run(...range);
    this.#markToppedUp.run(...range);
  }

  #record(turn: number, index: number): void {
    const { cuid, service, reqId } = connectionOf(index);
    const key = { cuid, service, reqId, environment: "production" } as const;
    const at = Math.floor(this.#begin + this.transactions * this.#pauseMs);
    const checkoutId = sealed(this.#target, key, at);
    const transaction: Transaction = {
      ...key,
      checkoutId,
      txnId: formatTransactionId(at, random(TRANSACTION_ID_RANDOM_BYTES)),
      partnerId: this.#target.partnerId,
      bouquetCode: BOUQUET.code,
      amount: BigInt(PRICE) * 100n,
      at,
      status: "success",
      udf1: `order-${this.transactions}`,
      udf2: undefined,
    };
    const grant = { kind: "top_up", at, bouquet: BOUQUET, period: PERIOD, checkoutId } as const;
    this.#insertTopUp.run(...topUpColumns(transaction));
    // The first grant is what the import stated.
    const seq = turn + 2;
    this.#insertGrant.run(cuid, key.environment, service, reqId, this.#plan, seq, ...grantColumns(grant));
    if (this.transactions % NAMED_EVERY === 0) this.checkoutIds.push(checkoutId);
    this.transactions += 1;
  }
}

function topUpsOf(index: number): number {
  return index % (MOST_EACH + 1);
}

function sealed({ secret, partnerId, revision }: Target, key: ConnectionKey, at: number): string {
  const holder = { partnerId, environment: key.environment };
  return issueCheckout(secret, holder, key, { revision, issuedAt: at, nonce: random(CHECKOUT_NONCE_BYTES) });
}

const pool = { bytes: Buffer.alloc(64 * 1024), used: 64 * 1024 };

/** Drawn in bulk: a draw of its own for each would cost as much as the writing. */
function random(bytes: number): Buffer {
  if (pool.used + bytes > pool.bytes.length) {
    randomFillSync(pool.bytes);
    pool.used = 0;
  }
  pool.used += bytes;
  return pool.bytes.subarray(pool.used - bytes, pool.used);
}

async function* ranges(customers: number): AsyncGenerator<[from: number, to: number]> {
  for (let from = 0; from < customers; from += CUSTOMERS_AT_ONCE) {
    await setImmediate();
    yield [from, Math.min(from + CUSTOMERS_AT_ONCE, customers)];
  }
}

function inTransaction(database: Database, work: () => void): void {
  database.exec("BEGIN");
  work();
  database.exec("COMMIT");
}
