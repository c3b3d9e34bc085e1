import type { TokenState } from "../../domain/access-token.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import type { RetiredCheckout } from "../../domain/checkout.ts";
import { type Connection, type ConnectionKey, type WireStatus, withHead } from "../../domain/customer.ts";
import type { NewEvent } from "../../domain/event.ts";
import type { Taker, ToldChange } from "../../domain/news.ts";
import type { Sale } from "../../domain/sale.ts";
import type { RecordedTopUp, TopUpCommand, TopUpSnapshot } from "../../domain/top-up.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { type TokenStateRow, toTokenState } from "../access.ts";
import { accountName, BatchAccounts, type GuardRow, toGuarded } from "../guarded-accounts.ts";
import { type ConnectionRows, saleRow, toBareConnection, toHead, toRetired, toTransaction } from "../rows.ts";
import type { SettlingReads, SettlingWrites } from "../settling.ts";
import type { CustomerRow, RawRow } from "../tables.ts";

export type LockedCustomer = Pick<CustomerRow, "cuid" | "environment" | "status">;

/** A checkout that was asked for. Without a top-up, all columns of the top-up are null. */
export type AskedCheckout = { readonly asked: string; readonly retired: RawRow<"retired_checkout"> | null } & (
  | RawRow<"top_up">
  | { readonly checkout_id: null }
);

export type TokenOfBatch = TokenStateRow & AccountColumns & { readonly id: string; readonly guarded: boolean };

/** Sums of an account's sales today, before the batch. */
export type SoldRow = AccountColumns & { readonly top_ups: number; readonly gross: number };

/** A guarded account, locked. */
export type LockedAccount = GuardRow & AccountColumns;

export type AccountColumns = Pick<RawRow<"account">, "partner_id" | "environment">;

/** The rows that a batch has loaded. */
export interface LoadedBatch {
  readonly customers: readonly LockedCustomer[];
  readonly tokens: readonly TokenOfBatch[];
  readonly accounts: readonly LockedAccount[];
  readonly sold: readonly SoldRow[];
  readonly checkouts: readonly AskedCheckout[];
  readonly connections: readonly ConnectionRows[];
  readonly catalogues: ReadonlyMap<number, Catalogue>;
  /** History is complete from this time on; undefined if nothing was ever deleted. */
  readonly prunedBefore: Instant | undefined;
  /** Whether there is a target, so that events must be written. */
  readonly hasTarget: boolean;
  /** The webhooks of the batch's accounts. */
  readonly takers: readonly Taker[];
}

/** A batch in memory. Each item reads the writes of the items before it. The batch is stored from here at its end. */
export class BatchSnapshot implements SettlingReads<TopUpSnapshot>, SettlingWrites<TopUpSnapshot> {
  readonly hasTarget: boolean;
  readonly accounts: BatchAccounts;
  readonly recorded: RecordedTopUp[] = [];
  readonly sales: RawRow<"sale">[] = [];
  readonly events: NewEvent[] = [];
  readonly told: ToldChange[] = [];
  /** Checkouts that the batch retires. */
  readonly retired = new Map<string, RetiredCheckout>();

  readonly #tokens: ReadonlyMap<string, TokenState>;
  readonly #statuses: ReadonlyMap<string, WireStatus>;
  readonly #connections: Map<string, Connection>;
  readonly #transactions = new Map<string, Transaction>();
  readonly #wasRetired = new Map<string, RetiredCheckout>();
  readonly #catalogues: ReadonlyMap<number, Catalogue>;
  readonly #prunedBefore: Instant | undefined;
  readonly #takers: readonly Taker[];

  constructor(loaded: LoadedBatch) {
    const { customers, tokens, accounts, sold, checkouts, connections, catalogues, prunedBefore, hasTarget, takers } =
      loaded;
    this.hasTarget = hasTarget;
    this.#takers = takers;
    this.#tokens = new Map(tokens.map((row) => [row.id, toTokenState(row)]));
    this.#statuses = new Map(customers.map((row) => [customerName(row), row.status]));
    this.#connections = toConnections(connections);
    const guarded = new Map(accounts.map((row) => [`${row.partner_id} ${row.environment}`, toGuarded(row)]));
    const soldBefore = new Map(sold.map((row) => [`${row.partner_id} ${row.environment}`, row]));
    this.accounts = new BatchAccounts({
      account: (key) => guarded.get(accountName(key)),
      soldToday(key) {
        const { top_ups: topUps = 0, gross = 0 } = soldBefore.get(accountName(key)) ?? {};
        return { topUps: Number(topUps), gross: BigInt(gross) };
      },
    });
    for (const row of checkouts) {
      if (row.retired !== null) this.#wasRetired.set(row.asked, toRetired(row.retired));
      if (row.checkout_id !== null) this.#transactions.set(row.asked, toTransaction(row));
    }
    this.#catalogues = catalogues;
    this.#prunedBefore = prunedBefore;
  }

  snapshot(command: TopUpCommand): TopUpSnapshot {
    const { checkoutId, checkout } = command;
    return {
      recorded: this.transaction(checkoutId),
      token: (tokenId) => this.#tokens.get(tokenId),
      account: () => this.accounts.find(command),
      soldToday: () => this.accounts.soldToday(command),
      customerStatus: this.#statuses.get(customerName(command)),
      connection: this.#connections.get(connectionName(command)),
      retired: this.retirement(checkoutId),
      prunedBefore: () => this.#prunedBefore,
      catalogue: () => this.#catalogues.get(checkout.revision),
    };
  }

  transaction(checkoutId: string): Transaction | undefined {
    return this.#transactions.get(checkoutId);
  }

  retirement(checkoutId: string): RetiredCheckout | undefined {
    return this.retired.get(checkoutId) ?? this.#wasRetired.get(checkoutId);
  }

  prunedBefore(): Instant | undefined {
    return this.#prunedBefore;
  }

  record(topUp: RecordedTopUp, _snapshot: TopUpSnapshot, after: Connection): void {
    const { transaction } = topUp;
    this.recorded.push(topUp);
    this.accounts.record(topUp);
    this.#transactions.set(transaction.checkoutId, transaction);
    this.#connections.set(connectionName(transaction), after);
  }

  recordSale(transaction: Transaction, sale: Sale): void {
    this.sales.push(saleRow(transaction, sale));
  }

  appendEvent(event: NewEvent): void {
    this.events.push(event);
  }

  takersOf(): readonly Taker[] {
    return this.#takers;
  }

  tell(change: ToldChange): void {
    this.told.push(change);
  }

  retire(checkoutId: string, retired: RetiredCheckout): void {
    this.retired.set(checkoutId, retired);
  }
}

/** The connections of the rows, by {@link connectionName}. */
function toConnections(rows: readonly ConnectionRows[]): Map<string, Connection> {
  const connections = new Map<string, Connection>();
  for (const row of rows) {
    const name = connectionName({ ...row, reqId: row.req_id });
    const connection = connections.get(name) ?? { ...toBareConnection(row), ledgers: [] };
    connections.set(name, row.plan === null ? connection : withHead(connection, toHead(row)));
  }
  return connections;
}

function customerName({ environment, cuid }: Pick<ConnectionKey, "environment" | "cuid">): string {
  return `${environment} ${cuid}`;
}

function connectionName({ environment, cuid, service, reqId }: ConnectionKey): string {
  return JSON.stringify([environment, cuid, service, reqId]);
}
