import type { AccessToken } from "../domain/access-token.ts";
import type { Attribution } from "../domain/audit.ts";
import type { Service } from "../domain/bouquet.ts";
import type { BasePlans, Catalogue } from "../domain/catalogue.ts";
import type { CheckoutSecret, RetiredCheckout } from "../domain/checkout.ts";
import type { Connection, ConnectionKey, CustomerOverview, CustomerProfile, Environment } from "../domain/customer.ts";
import type { CustomerEffect } from "../domain/customer-audit.ts";
import type { CustomerImportRules } from "../domain/customer-import.ts";
import type { StatedCustomer } from "../domain/customer-row.ts";
import type { CurrencyExponent, Money } from "../domain/money.ts";
import type { NormaliseMobile } from "../domain/names.ts";
import type { LookUpCount } from "../domain/partner-limits.ts";
import type { TrialCall } from "../domain/practice.ts";
import type { SettledTopUp, TopUpCommand } from "../domain/top-up.ts";
import type { Transaction, TransactionStatus } from "../domain/transaction.ts";
import type { Instant, Moment, Zone } from "../domain/wall-time.ts";
import type { ArchiveValue, Db, Engine, Writers } from "./engine.ts";

/**
 * The durable data of topupd. A store contains no rules: it loads data, lets the domain decide, and writes the decision in
 * one transaction. Every method rejects with StoreUnavailable if the database cannot be reached or is too slow. The caller
 * then does not know whether a write happened, and may ask again.
 */
export interface Store {
  readonly provider: ProviderSettings;

  /** Resolves if the database answers. */
  ping(): Promise<void>;
  space(): Promise<Space>;
  /** How long ago `reports` was equal to the database, in ms; undefined if it is the same one. */
  reportsBehindMs(): Promise<number | undefined>;
  close(): Promise<void>;

  // The data of partners' requests. Its SQL is written by hand for each engine.
  /** A revocation by any process shows within a second. */
  findAccessToken(hash: Uint8Array): Promise<AccessToken | undefined>;
  /** Writes when tokens were used. The later time stays. */
  recordTokenUses(uses: TokenUses): Promise<void>;
  /** Records refused calls, and deletes some that are too old or too many. */
  recordRefusedCalls(calls: readonly RefusedCall[]): Promise<void>;
  /** The same for calls in the trial environment. */
  recordTrialCalls(calls: readonly TrialCall[]): Promise<void>;
  /**
   * Writes counts of look-ups of strangers, deletes old ones, and reads those of all services.
   * @param since counts written up to this time were read before.
   * @returns oldest first.
   */
  shareLookUps(counts: readonly LookUpCount[], now: Instant, since: Instant): Promise<LookUpCount[]>;
  /**
   * Counts a top-up of the practice customer.
   * @param reverseAt when the provider reverses it; undefined: never.
   * @returns the number of calls with this checkoutId, this one included.
   */
  practise(checkoutId: string, at: Instant, reverseAt?: Instant): Promise<number>;
  /** Newest first, and never empty. A new secret by any process shows within a second. */
  checkoutSecrets(): Promise<readonly CheckoutSecret[]>;
  /** The newest revision in force, or undefined before the first one. Every process changes it at the same instant. */
  currentCatalogue(environment: Environment, now: Instant): Promise<Catalogue | undefined>;
  /** At most two customers that a code fits: two are enough to know that it is ambiguous. */
  lookUpCustomers(environment: Environment, code: string): Promise<CustomerOverview[]>;
  findConnection(key: ConnectionKey): Promise<FoundConnection | undefined>;
  /** Whether the stored history has a top-up of a customer by a partner. */
  hasToppedUp(partnerId: number, environment: Environment, cuid: string): Promise<boolean>;
  /**
   * Settles a top-up in the next batch. Resolves when the outcome is durable. The time of the decision is read inside the
   * transaction.
   */
  settleTopUp(command: TopUpCommand): Promise<SettledTopUp>;
  /** Whether so many top-ups wait that any further top-up is refused. */
  isOverloaded(): boolean;
  findTransaction(checkoutId: string): Promise<Transaction | undefined>;
  /** The transaction, or how the checkout was retired. */
  findOutcome(checkoutId: string): Promise<Outcome>;
  /**
   * The transaction, or undefined if there is none and never will be: the checkout is then retired durably, so that neither
   * a clock change nor an interrupted commit can record a top-up with it later.
   */
  concludeCheckout(checkoutId: string): Promise<Conclusion>;

  // Customers files
  /**
   * Writes all rows in one transaction, or none. Only a row whose connection belongs to another customer is refused.
   * @param rows at most one for each customer.
   * @param also more work in the transaction. If it throws, nothing is written.
   * @returns the effect of each row, in their order.
   */
  importCustomers(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    by: Attribution,
    rules: FileRules,
    also?: AlsoImported,
  ): Promise<readonly CustomerEffect[]>;
  /** Stores only the asOf of rows that otherwise equal the stored data. */
  confirmCustomers(environment: Environment, customers: readonly ConfirmedCustomer[]): Promise<void>;
  /** The effect that an import would have on each row. Writes nothing and holds no lock. */
  previewCustomers(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    rules: FileRules,
  ): Promise<readonly CustomerEffect[]>;

  /** The engine for the office's SQL. */
  readonly engine: Engine;
  /** The engine for lists and reports, which only read: of a standby, if there is one, else `engine`. */
  readonly reports: Engine;

  /** Checks the stored data against the rules. Yields each fault and the progress. */
  check(): AsyncIterable<CheckEvent>;

  // Copies and backups
  /** Reads all stored data as of one moment. It contains everything that any process acknowledged before the call. */
  exportArchive<Result>(writers: Writers, work: ArchiveWork<Result>): Promise<Result>;
  /**
   * Fills this empty database in one transaction, which checks all of the data before it commits.
   * @param pausing if given, all targets and bulk changes are paused in its name, in the same transaction.
   * @throws StoreRefused if the database is not empty, or the archive is incomplete or wrong. Nothing is changed then.
   */
  importArchive(chunks: AsyncIterable<ArchiveChunk>, pausing?: Attribution): Promise<ImportedArchive>;
}

/** Sizes in bytes, undefined if topupd cannot know them. */
export interface Space {
  readonly database: number;
  /** Size of the write-ahead log. */
  readonly log: number | undefined;
  /** Free space of the disk. */
  readonly free: number | undefined;
}

/** The time of each token's last use, by the token's id. */
export type TokenUses = ReadonlyMap<string, Instant>;

/** A refused call of a partner. */
export interface RefusedCall {
  readonly at: Instant;
  readonly partnerId: number;
  readonly environment: Environment;
  /** The operation in the path of the request. */
  readonly operation: string;
  /** The reason of the failure, as sent to the partner. */
  readonly reason: string;
  /** The limit that refused the call. */
  readonly detail?: string | undefined;
  /** The customer id or code that was sent. */
  readonly code: string | undefined;
  readonly requestId: string;
}

/** A customer's row, and the time up to which it contains the top-ups and goodwill made here. */
export interface CustomerRowOfFile {
  readonly stated: StatedCustomer;
  readonly asOf: Moment;
}

/** A customer whose row equals the stored data, and the row's asOf. */
export interface ConfirmedCustomer {
  readonly cuid: string;
  readonly asOf: Moment;
}

/** The rules for all rows of a file. */
export type FileRules = Pick<CustomerImportRules, "now" | "mode" | "toleranceDays" | "allowShorter">;

export type Outcome = Transaction | RetiredCheckout | undefined;

/** `pruned`: it is unknown whether there was a transaction, because the history of that time was deleted. */
export type Conclusion = Transaction | "pruned" | undefined;

/**
 * Observes the beginning of a batch of top-ups; the returned function observes the end. It runs for every batch: it must be
 * quick and must not throw.
 */
export type ObserveBatch = (items: number) => (committed: boolean) => void;

/**
 * Observes why the write-ahead log cannot be checkpointed; undefined once it can be again. Nothing fails meanwhile, but the
 * log grows.
 */
export type ObserveCheckpoints = (failure: string | undefined) => void;

/** The meaning of times and amounts in a database, fixed at the first customer or catalogue, and this process's base plans. */
export interface ProviderSettings {
  readonly zone: Zone;
  readonly currencyExponent: CurrencyExponent;
  /** ISO 3166; undefined means that mobile numbers are compared as they are written. */
  readonly defaultCountry?: string | undefined;
  /** Returns the E.164 form of a mobile number, so that its customer is found however the number is written. */
  readonly normaliseMobile?: NormaliseMobile | undefined;
  readonly basePlans: BasePlans;
  /** How many months ahead a connection can be paid (default: DEFAULT_MONTHS_AHEAD of domain/top-up.ts). */
  readonly monthsAhead?: number | undefined;
}

/** The customer exists; the connection may not. */
export interface FoundConnection {
  readonly profile: CustomerProfile;
  readonly connection: Connection | undefined;
}

/** One numbered migration, of this topupd or in a database. */
export interface MigrationState {
  readonly name: string;
  /** `altered`: its text has changed since it was applied, so it was not released. `unknown`: only a newer topupd has it. */
  readonly state: "applied" | "pending" | "altered" | "unknown";
  readonly appliedAt: Instant | undefined;
}

export type CheckEvent =
  /** `unchecked`: there was nothing to compare it with. */
  | { readonly kind: "checked" | "unchecked"; readonly what: string; readonly count: number }
  | { readonly kind: "wrong"; readonly what: string };

/** Reads an archive. The archive is closed when the promise settles. */
export type ArchiveWork<Result> = (chunks: AsyncIterable<ArchiveChunk>) => Promise<Result>;

/** A part of an archive. The totals come first, then the rows, table by table, each after the rows that it refers to. */
export type ArchiveChunk =
  | { readonly kind: "totals"; readonly totals: ArchiveTotals }
  | {
      readonly kind: "rows";
      readonly table: string;
      /** At most a thousand rows; the values are in the order of the table's columns. */
      readonly rows: readonly (readonly ArchiveValue[])[];
      /** The digest of these rows when they were read. */
      readonly digest: bigint;
    };

export interface ArchiveTotals {
  /** The number of rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly money: readonly MoneyTotal[];
}

export interface ImportedArchive {
  readonly totals: ArchiveTotals;
  /** The names of the paused targets. */
  readonly paused: readonly string[];
  /** The ids of the paused bulk changes. */
  readonly pausedBulk: readonly number[];
}

/** The sum of a partner's top-ups. */
export interface MoneyTotal {
  readonly partnerId: number;
  readonly environment: Environment;
  readonly service: Service;
  readonly status: TransactionStatus;
  readonly topUps: number;
  readonly amount: Money;
}

export type AlsoImported = (tx: Db, effects: readonly CustomerEffect[]) => Promise<void>;
