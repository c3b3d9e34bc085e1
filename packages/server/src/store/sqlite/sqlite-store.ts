import type { AccessToken, Partner, PartnerStatus } from "../../domain/access-token.ts";
import type { Bouquet } from "../../domain/bouquet.ts";
import type { Instant } from "../../domain/calendar.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import { CHECKOUT_KEY_BYTES, type CheckoutSecret, nextSecret } from "../../domain/checkout-secret.ts";
import type { ConnectionKey, Customer, CustomerOverview, Environment } from "../../domain/customer.ts";
import type { ImportMode } from "../../domain/customer-import.ts";
import type { StatedCustomer } from "../../domain/customer-row.ts";
import { isTooLateToRecord, type TopUpCommand, type TopUpOutcome, type Transaction } from "../../domain/top-up.ts";
import { Batcher } from "../batcher.ts";
import type { ProviderWishes } from "../common/provider-settings.ts";
import { StoreUnavailable } from "../errors.ts";
import type {
  ArchiveChunk,
  ArchiveTotals,
  ArchiveWork,
  CheckEvent,
  FoundConnection,
  ObserveBatch,
  ProviderSettings,
  Store,
  Writers,
} from "../store.ts";
import { exportArchive, importArchive } from "./archive.ts";
import { CatalogueTables } from "./catalogues.ts";
import { checkDatabase } from "./check.ts";
import { CheckoutSecretTable } from "./checkout-secrets.ts";
import { CustomerImports } from "./customer-imports.ts";
import { CustomerTables } from "./customers.ts";
import { Database } from "./database.ts";
import { Memory } from "./memory.ts";
import { migrate } from "./migrate.ts";
import { PartnerTables } from "./partners.ts";
import { settleProviderSettings, verifyProviderSettings } from "./provider.ts";
import { SearchTables } from "./search.ts";
import { SubscriptionTables } from "./subscriptions.ts";
import { TopUpTables } from "./top-ups.ts";
import { translate } from "./trouble.ts";

/** Large enough to share a flush widely, small enough that the event loop turns between two. */
const MAX_BATCH = 256;
/** More than a second of work on a slow disk: beyond that, a clear refusal beats a long wait. */
const MAX_WAITING = 10_000;

export interface SqliteStoreOptions extends ProviderWishes {
  readonly path: string;
  /** Refuses to make a new database, and to bring an older one up to date. */
  readonly mustExist?: boolean;
  readonly clock: () => Instant;
  readonly random: (bytes: number) => Uint8Array;
  readonly observeBatch?: ObserveBatch | undefined;
}

/**
 * Opens the embedded store, and migrates it where needed.
 * @throws StoreRefused where topupd will not work with the file; the message says why.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const { path, mustExist = false } = options;
  const database = new Database(path, { mustExist });
  try {
    database.verifyDurability();
    migrate(database, options.clock(), { mayApply: !mustExist });
    const provider = settleProviderSettings(database, options);
    ensureCheckoutSecret(database, options);
    database.opened();
    return new SqliteStore(database, provider, options);
  } catch (error) {
    database.close();
    throw translate(error);
  }
}

class SqliteStore implements Store {
  readonly provider: ProviderSettings;
  readonly #path: string;
  readonly #database: Database;
  readonly #clock: () => Instant;
  readonly #memory: Memory;
  readonly #partners: PartnerTables;
  readonly #checkoutSecrets: CheckoutSecretTable;
  readonly #catalogues: CatalogueTables;
  readonly #subscriptions: SubscriptionTables;
  readonly #customers: CustomerTables;
  readonly #topUps: TopUpTables;
  #imports: CustomerImports | undefined;
  #search: SearchTables | undefined;
  readonly #batcher: Batcher<(now: Instant) => unknown, unknown>;

  constructor(database: Database, provider: ProviderSettings, { path, clock, observeBatch }: SqliteStoreOptions) {
    this.#path = path;
    this.provider = provider;
    this.#database = database;
    this.#clock = clock;
    this.#memory = new Memory(database);
    this.#partners = new PartnerTables(database);
    this.#checkoutSecrets = new CheckoutSecretTable(database);
    this.#catalogues = new CatalogueTables(database, () => verifyProviderSettings(database, provider));
    this.#subscriptions = new SubscriptionTables(database);
    this.#customers = new CustomerTables(database);
    this.#topUps = new TopUpTables(database, {
      catalogues: this.#catalogues,
      customers: this.#customers,
      subscriptions: this.#subscriptions,
    });
    this.#batcher = new Batcher({
      settle: (batch) => this.#settle(batch),
      isAway: (error) => error instanceof StoreUnavailable,
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
      overloaded: () => new StoreUnavailable("too many top-ups are waiting"),
      observe: observeBatch,
    });
  }

  async ping(): Promise<void> {
    this.#database.ping();
  }

  async close(): Promise<void> {
    await this.#batcher.drained();
    this.#database.close();
  }

  async addPartner(name: string, now: Instant): Promise<Partner | "name_taken"> {
    return this.#change(() => {
      if (this.#partners.find(name) !== undefined) return "name_taken";
      this.#partners.add(name, now);
      return this.#partners.find(name) as Partner;
    });
  }

  async setPartnerStatus(name: string, status: PartnerStatus): Promise<Partner | undefined> {
    return this.#change(() => {
      this.#partners.setStatus(name, status);
      return this.#partners.find(name);
    });
  }

  async findPartner(name: string): Promise<Partner | undefined> {
    return this.#database.ask(() => this.#partners.find(name));
  }

  async listPartners(): Promise<Partner[]> {
    return this.#database.ask(() => this.#partners.list());
  }

  async addAccessToken(token: AccessToken, hash: Uint8Array): Promise<void> {
    await this.#change(() => this.#partners.addToken(token, hash));
  }

  async findAccessToken(hash: Uint8Array): Promise<AccessToken | undefined> {
    const key = `token ${Buffer.from(hash).toString("base64")}`;
    return this.#database.read(() => this.#memory.recall(key, () => this.#partners.findToken(hash)));
  }

  async listAccessTokens(): Promise<AccessToken[]> {
    return this.#database.ask(() => this.#partners.listTokens());
  }

  async revokeAccessToken(id: string, now: Instant): Promise<AccessToken | undefined> {
    return this.#change(() => {
      this.#partners.revokeToken(id, now);
      return this.#partners.findTokenById(id);
    });
  }

  async checkoutSecrets(): Promise<readonly CheckoutSecret[]> {
    const list = () => this.#checkoutSecrets.list();
    return this.#database.read(() => this.#memory.recall("secrets", list)) as readonly CheckoutSecret[];
  }

  async rotateCheckoutSecret(key: Uint8Array, now: Instant): Promise<CheckoutSecret | "too_soon"> {
    return this.#change(() => {
      const secret = nextSecret(this.#checkoutSecrets.list(), key, now);
      if (secret === undefined) return "too_soon";
      this.#checkoutSecrets.put(secret);
      return secret;
    });
  }

  async currentCatalogue(environment: Environment): Promise<Catalogue | undefined> {
    const revision = () => this.#catalogues.currentRevision(environment);
    return this.#database.read(() => {
      const current = this.#memory.recall(`catalogue ${environment}`, revision);
      return current === undefined ? undefined : this.#catalogues.read(current);
    });
  }

  async publishCatalogue(environment: Environment, bouquets: readonly Bouquet[], now: Instant): Promise<Catalogue> {
    return this.#change(() => this.#catalogues.publish(environment, bouquets, now));
  }

  async knownBouquets(environment: Environment): Promise<readonly Bouquet[]> {
    return this.#database.ask(() => this.#catalogues.known(environment));
  }

  async lookUpCustomers(environment: Environment, code: string): Promise<CustomerOverview[]> {
    return this.#database.read(() => this.#customers.lookUp(environment, code));
  }

  async findCustomers(environment: Environment, code: string): Promise<Customer[]> {
    return this.#database.read(() => this.#customers.findByCode(environment, code));
  }

  async findConnection(key: ConnectionKey): Promise<FoundConnection | undefined> {
    return this.#database.read(() => this.#customers.findConnection(key));
  }

  async importCustomers(
    environment: Environment,
    customers: readonly StatedCustomer[],
    now: Instant,
    mode: ImportMode,
  ): Promise<void> {
    await this.#database.write(() => {
      verifyProviderSettings(this.#database, this.provider);
      // Made only here: a service that serves has no use for its statements.
      this.#imports ??= new CustomerImports(this.#database);
      this.#imports.import(environment, customers, now, mode, this.provider.calendar);
    });
  }

  settleTopUp(command: TopUpCommand): Promise<TopUpOutcome> {
    return this.#inBatch((now) => this.#topUps.settle(command, now, this.provider.calendar));
  }

  async findTransaction(checkoutId: string): Promise<Transaction | undefined> {
    // Once recorded, always recorded; that it is not must hold for all that was answered by now.
    const seen = this.#database.read(() => this.#topUps.find(checkoutId));
    return seen ?? this.#database.ask(() => this.#topUps.find(checkoutId));
  }

  /*
   * A commit that a crash or a failing disk interrupted may lie at the end of the write-ahead log, unseen,
   * until SQLite recovers it. The write that retires the checkout takes its place there.
   */
  concludeCheckout(checkoutId: string): Promise<Transaction | undefined> {
    return this.#inBatch((now) => this.#topUps.conclude(checkoutId, now));
  }

  /** Made when it is first asked for, as for imports. */
  get search(): SearchTables {
    this.#search ??= new SearchTables(this.#database, this.#customers);
    return this.#search;
  }

  /** On a connection of its own: others may use the store while the check has its one view of it. */
  async *check(): AsyncIterable<CheckEvent> {
    const view = new Database(this.#path, { mustExist: true });
    try {
      yield* checkDatabase(view, this.provider.calendar);
    } finally {
      view.close();
    }
  }

  exportArchive<Result>(writers: Writers, work: ArchiveWork<Result>): Promise<Result> {
    return exportArchive(this.#path, writers, work);
  }

  importArchive(chunks: AsyncIterable<ArchiveChunk>): Promise<ArchiveTotals> {
    return importArchive(this.#path, chunks, this.provider);
  }

  /** As a write, of something that every process keeps in memory. */
  async #change<Result>(work: () => Result): Promise<Result> {
    const result = await this.#database.write(work);
    this.#memory.forget();
    return result;
  }

  /** Has work done in the next batch: one write transaction for all that waits, at one time. */
  #inBatch<Outcome>(work: (now: Instant) => Outcome): Promise<Outcome> {
    return this.#batcher.add(work) as Promise<Outcome>;
  }

  async #settle(batch: readonly ((now: Instant) => unknown)[]): Promise<unknown[]> {
    return this.#database.write(() => {
      const now = this.#clock();
      const outcomes = batch.map((work) => work(now));
      if (isTooLateToRecord(now, this.#clock())) throw new StoreUnavailable("the batch took too long to be recorded");
      return outcomes;
    });
  }
}

/** All processes on the file share the secret, so that each can open what another issued. */
function ensureCheckoutSecret(database: Database, { clock, random }: SqliteStoreOptions): void {
  database.writeAtOpening(() => {
    const secrets = new CheckoutSecretTable(database);
    if (secrets.list().length === 0) secrets.put({ id: 0, key: random(CHECKOUT_KEY_BYTES), createdAt: clock() });
  });
}
