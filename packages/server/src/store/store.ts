import type { AccessToken } from "../domain/access-token.ts";
import type { Attribution } from "../domain/audit.ts";
import type { Service } from "../domain/bouquet.ts";
import type { BasePlans, Catalogue } from "../domain/catalogue.ts";
import type { CheckoutSecret } from "../domain/checkout-secret.ts";
import type { Connection, ConnectionKey, CustomerOverview, CustomerProfile, Environment } from "../domain/customer.ts";
import type { CustomerEffect } from "../domain/customer-audit.ts";
import type { CustomerImportRules } from "../domain/customer-import.ts";
import type { StatedCustomer } from "../domain/customer-row.ts";
import type { NormaliseMobile } from "../domain/mobile-number.ts";
import type { CurrencyExponent, Money } from "../domain/money.ts";
import type { SettledTopUp, TopUpCommand, Transaction, TransactionStatus } from "../domain/top-up.ts";
import type { Instant, Moment } from "../domain/wall-time.ts";
import type { Zone } from "../domain/zone.ts";
import type { Engine } from "./engine.ts";

/**
 * Where topupd keeps what must not be lost. A store knows no rule: it loads, asks the domain to decide, and writes what was
 * decided, in one transaction. Every method rejects with StoreUnavailable (see errors.ts) where the database cannot be
 * reached or does not keep its promises in time; the caller then does not know whether a write happened, and may ask again.
 */
export interface Store {
  readonly provider: ProviderSettings;

  /** Resolves if the database answers. */
  ping(): Promise<void>;
  close(): Promise<void>;

  // What partners' requests need: written by hand for each engine.
  /** As it is now: a revocation by any process shows within a second. */
  findAccessToken(hash: Uint8Array): Promise<AccessToken | undefined>;
  /** Writes when tokens were used; the later of what is on record and what is given stays. */
  recordTokenUses(uses: TokenUses): Promise<void>;
  /** Records refused calls, and deletes some that are too old or too many. */
  recordAttempts(attempts: readonly Attempt[]): Promise<void>;
  /** Newest first, and never empty. A new one by any process shows within a second. */
  checkoutSecrets(): Promise<readonly CheckoutSecret[]>;
  /** The newest revision, or undefined before the first import. */
  currentCatalogue(environment: Environment): Promise<Catalogue | undefined>;
  /** Up to two customers that a code fits: two are enough to know that it is ambiguous. */
  lookUpCustomers(environment: Environment, code: string): Promise<CustomerOverview[]>;
  findConnection(key: ConnectionKey): Promise<FoundConnection | undefined>;
  /**
   * Settles a top-up in the next batch. Resolves only once the outcome is durable; the time of the decision is read inside
   * the transaction.
   */
  settleTopUp(command: TopUpCommand): Promise<SettledTopUp>;
  /** Whether so many top-ups wait that any further one is turned away. */
  isOverloaded(): boolean;
  findTransaction(checkoutId: string): Promise<Transaction | undefined>;
  /** The same, and when the checkout was retired: its top-up was refused as expired, or it was concluded. */
  findOutcome(checkoutId: string): Promise<Outcome>;
  /**
   * The transaction, or undefined for good: then it is written down, durably, that nothing can be recorded with this
   * checkout any more, whatever clocks and interrupted commits may bring.
   */
  concludeCheckout(checkoutId: string): Promise<Conclusion>;

  // Customers files
  /**
   * Writes all of the given rows in one transaction, or none. A row whose connection is another customer's is refused by
   * itself. @param rows in which no customer stands twice.
   * @returns what that did with each, in their order.
   */
  importCustomers(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    by: Attribution,
    rules: FileRules,
  ): Promise<readonly CustomerEffect[]>;
  /** Takes the moments of rows that state what is stored, and writes nothing else. */
  confirmCustomers(environment: Environment, customers: readonly ConfirmedCustomer[]): Promise<void>;
  /** What an import would do with each, written by nobody and holding nobody up. */
  previewCustomers(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    rules: FileRules,
  ): Promise<readonly CustomerEffect[]>;

  /** What the office's operations run on. */
  readonly engine: Engine;

  /** Holds what is stored against the rules; yields what it finds wrong, and how far it is. */
  check(): AsyncIterable<CheckEvent>;

  // Moving to another database, of whichever kind, and backups
  /**
   * Hands over all that is stored, at one moment. Everything that was acknowledged before the call, by whichever process,
   * is in it.
   */
  exportArchive<Result>(writers: Writers, work: ArchiveWork<Result>): Promise<Result>;
  /**
   * Fills this database, which must be empty, in one transaction that ends with a look at all of it.
   * @param pausing given, all targets are paused, in the same transaction, by whom it names.
   * @throws StoreRefused where it is not empty, or what came is not whole and in order: it is as before then.
   */
  importArchive(chunks: AsyncIterable<ArchiveChunk>, pausing?: Attribution): Promise<ImportedArchive>;
}

/** When each token was last used, by its id. */
export type TokenUses = ReadonlyMap<string, Instant>;

/** A refused call of a partner. */
export interface Attempt {
  readonly at: Instant;
  readonly partnerId: number;
  readonly environment: Environment;
  /** As the path has it. */
  readonly operation: string;
  /** Of the failure, as on the wire. */
  readonly reason: string;
  /** The customer id or code that was sent. */
  readonly code: string | undefined;
  readonly requestId: string;
}

/** A customer's row, and up to when it holds what was made here. */
export interface CustomerRowOfFile {
  readonly stated: StatedCustomer;
  readonly asOf: Moment;
}

/** A customer whose row states what is stored, and up to when the row holds what was made here. */
export interface ConfirmedCustomer {
  readonly cuid: string;
  readonly asOf: Moment;
}

/** What holds for all rows of a file. */
export type FileRules = Pick<CustomerImportRules, "now" | "mode" | "toleranceDays" | "allowShorter">;

/** `retiredAt`: when it was written down that there is no transaction, and will be none. */
export type Outcome = Transaction | { readonly retiredAt: Instant } | undefined;

/** `pruned`: whether there was one, nobody can tell any more, since the history of that time was let go. */
export type Conclusion = Transaction | "pruned" | undefined;

/**
 * Observes a batch of top-ups when its transaction begins; the function that it returns observes the end. It is called for
 * every batch: it must be quick, and must not throw.
 */
export type ObserveBatch = (items: number) => (committed: boolean) => void;

/**
 * Observes why the write-ahead log cannot be written into the database; undefined once it can again. Nothing fails meanwhile,
 * but the log grows.
 */
export type ObserveCheckpoints = (failure: string | undefined) => void;

/** What times and amounts in a database mean, fixed once it holds customers or a catalogue; and the rules of this process. */
export interface ProviderSettings {
  readonly zone: Zone;
  readonly currencyExponent: CurrencyExponent;
  /** ISO 3166; undefined where mobile numbers are compared as they are written. */
  readonly defaultCountry?: string | undefined;
  /** The one form of a mobile number, by which its customer is found however it is written. */
  readonly normaliseMobile?: NormaliseMobile | undefined;
  readonly basePlans: BasePlans;
}

/** The customer exists; the connection may not. */
export interface FoundConnection {
  readonly profile: CustomerProfile;
  readonly connection: Connection | undefined;
}

/** One numbered migration, of this topupd or in a database. */
export interface MigrationState {
  readonly name: string;
  /** `altered`: it was another one when it was applied. `unknown`: only a newer topupd knows it. */
  readonly state: "applied" | "pending" | "altered" | "unknown";
  readonly appliedAt: Instant | undefined;
}

export type CheckEvent =
  /** `unchecked`: it could not be held against anything. */
  | { readonly kind: "checked" | "unchecked"; readonly what: string; readonly count: number }
  | { readonly kind: "wrong"; readonly what: string };

/**
 * What others may do while an archive is taken. `wait`: nobody can write until the work with it is done, so that nothing is
 * acknowledged that it does not hold; whoever tries waits, or is told that the store is unavailable. `go_on`: nobody is
 * held up, and what is written meanwhile is not in it.
 */
export type Writers = "wait" | "go_on";

/** What is done with an archive while it is there to be read. */
export type ArchiveWork<Result> = (chunks: AsyncIterable<ArchiveChunk>) => Promise<Result>;

/** A part of an archive. The totals come first, and then the rows, table by table, in an order in which references hold. */
export type ArchiveChunk =
  | { readonly kind: "totals"; readonly totals: ArchiveTotals }
  | {
      readonly kind: "rows";
      readonly table: string;
      /** Up to a thousand; the values in the order of the table's columns. */
      readonly rows: readonly (readonly ArchiveValue[])[];
      /** Of these rows, as they were read. */
      readonly digest: bigint;
    };

export type ArchiveValue = string | number | boolean | Uint8Array | null;

export interface ArchiveTotals {
  /** By table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly money: readonly MoneyTotal[];
}

export interface ImportedArchive {
  /** What there was to copy, and is here now. */
  readonly totals: ArchiveTotals;
  /** Names of the targets that were paused. */
  readonly paused: readonly string[];
}

/** What a partner's top-ups come to. */
export interface MoneyTotal {
  readonly partnerId: number;
  readonly environment: Environment;
  readonly service: Service;
  readonly status: TransactionStatus;
  readonly topUps: number;
  readonly amount: Money;
}
