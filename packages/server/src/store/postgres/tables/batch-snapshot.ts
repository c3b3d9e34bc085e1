import type { TokenState } from "../../../domain/access-token.ts";
import type { BasePlans, Catalogue } from "../../../domain/catalogue.ts";
import { concludeUnused } from "../../../domain/checkout.ts";
import { type Connection, type ConnectionKey, type WireStatus, withHead } from "../../../domain/customer.ts";
import { eventOf, type NewEvent } from "../../../domain/event.ts";
import { decideTopUp, type TopUpCommand, type TopUpOutcome, type Transaction } from "../../../domain/top-up.ts";
import type { Instant, Moment } from "../../../domain/wall-time.ts";
import { type TokenStateRow, toTokenState } from "../../back-office/access.ts";
import { type ConnectionRows, toBareConnection, toHead, toTransaction } from "../../rows.ts";
import type { Conclusion } from "../../store.ts";
import type { CustomerRow, TopUpRow } from "../../tables.ts";
import type { RecordedTopUp } from "./recording.ts";

export type LockedCustomer = Pick<CustomerRow, "cuid" | "environment" | "status">;

/** What is on record of a checkout that was asked for; without a top-up, all but the first two is null. */
export type CheckoutRow = { readonly asked: string; readonly retired_at: Instant | null } & (
  | TopUpRow
  | { readonly checkout_id: null }
);

export type TokenOfBatch = TokenStateRow & { readonly id: string };

/** What a batch has loaded. */
export interface LoadedBatch {
  readonly customers: readonly LockedCustomer[];
  readonly tokens: readonly TokenOfBatch[];
  readonly checkouts: readonly CheckoutRow[];
  readonly connections: readonly ConnectionRows[];
  readonly catalogues: ReadonlyMap<number, Catalogue>;
  /** The horizon, where a checkout is so old that it may matter. */
  readonly prunedBefore: Instant | undefined;
  /** Whether anybody is to be told of what is recorded. */
  readonly hasTarget: boolean;
}

/** A batch in memory: each decision sees the ones before it. What must be written gathers in `recorded` and `retired`. */
export class BatchSnapshot {
  readonly recorded: RecordedTopUp[] = [];
  /** Of each that was recorded; none where nobody is to be told. */
  readonly events: NewEvent[] = [];
  /** The checkoutIds with which nothing may be recorded any more. */
  readonly retired = new Set<string>();

  readonly #now: Moment;
  readonly #tokens: ReadonlyMap<string, TokenState>;
  readonly #statuses: ReadonlyMap<string, WireStatus>;
  readonly #connections: Map<string, Connection>;
  readonly #transactions = new Map<string, Transaction>();
  readonly #retired = new Map<string, Instant>();
  readonly #catalogues: ReadonlyMap<number, Catalogue>;
  readonly #prunedBefore: Instant | undefined;
  readonly #hasTarget: boolean;

  /** @param now the time by which all of it is decided. */
  constructor(loaded: LoadedBatch, now: Moment) {
    const { customers, tokens, checkouts, connections, catalogues, prunedBefore, hasTarget } = loaded;
    this.#now = now;
    this.#tokens = new Map(tokens.map((row) => [row.id, toTokenState(row)]));
    this.#statuses = new Map(customers.map((row) => [customerName(row), row.status]));
    this.#connections = toConnections(connections);
    for (const row of checkouts) {
      if (row.retired_at !== null) this.#retired.set(row.asked, row.retired_at);
      if (row.checkout_id !== null) this.#transactions.set(row.asked, toTransaction(row));
    }
    this.#catalogues = catalogues;
    this.#prunedBefore = prunedBefore;
    this.#hasTarget = hasTarget;
  }

  topUp(command: TopUpCommand, basePlans: BasePlans): TopUpOutcome {
    const { checkoutId } = command;
    const name = connectionName(command);
    const connection = this.#connections.get(name);
    const retired = this.#retired.has(checkoutId);
    const outcome = decideTopUp(
      {
        recorded: this.#transactions.get(checkoutId),
        token: (tokenId) => this.#tokens.get(tokenId),
        customerStatus: this.#statuses.get(customerName(command)),
        connection,
        retired,
        prunedBefore: () => this.#prunedBefore,
        catalogue: () => this.#catalogues.get(command.checkout.revision),
      },
      command,
      this.#now,
      basePlans,
    );
    if (outcome.kind === "recorded" && connection !== undefined) {
      const { plan, entry, transaction } = outcome;
      this.recorded.push(outcome);
      this.#transactions.set(checkoutId, transaction);
      const after = withHead(connection, { plan, seq: entry.seq, subscription: entry.after });
      this.#connections.set(name, after);
      if (this.#hasTarget) this.events.push(eventOf("topup.recorded", this.#now.instant, command, after, transaction));
    }
    if (outcome.kind === "refused" && outcome.retires && !retired) this.#retire(checkoutId);
    return outcome;
  }

  /** The transaction, or undefined for good. */
  conclude(checkoutId: string): Conclusion {
    const transaction = this.#transactions.get(checkoutId);
    if (transaction !== undefined) return transaction;
    const retiredAt = this.#retired.get(checkoutId);
    const conclusion = concludeUnused(checkoutId, retiredAt, this.#prunedBefore, this.#now.instant);
    if (conclusion === "retire") this.#retire(checkoutId);
    return conclusion === "pruned" ? conclusion : undefined;
  }

  #retire(checkoutId: string): void {
    this.#retired.set(checkoutId, this.#now.instant);
    this.retired.add(checkoutId);
  }
}

/** By name, the connections that the rows tell of. */
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
