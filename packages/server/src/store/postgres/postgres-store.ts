import type { AccessToken, Partner, PartnerStatus } from "../../domain/access-token.ts";
import type { Attribution } from "../../domain/audit.ts";
import type { Bouquet } from "../../domain/bouquet.ts";
import type { Instant } from "../../domain/calendar.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import { customerDigestIn } from "../../domain/checkout.ts";
import type { CheckoutSecret, Rotation, RotationRefusal } from "../../domain/checkout-secret.ts";
import type { ConnectionKey, CustomerOverview, Environment } from "../../domain/customer.ts";
import type { ImportMode } from "../../domain/customer-import.ts";
import type { StatedCustomer } from "../../domain/customer-row.ts";
import type { CustomerEffect } from "../../domain/import-effect.ts";
import type { SettledTopUp, TopUpCommand, Transaction } from "../../domain/top-up.ts";
import { Batcher } from "../batcher.ts";
import { type ProviderRow, verifyProviderRow } from "../common/provider-settings.ts";
import { BATCH_LIMITS, overloaded, type Settled, type SettlingItem } from "../common/settling.ts";
import { StoreContended, StoreUnavailable } from "../errors.ts";
import type {
  ArchiveChunk,
  ArchiveTotals,
  ArchiveWork,
  CheckEvent,
  Conclusion,
  FoundConnection,
  ObserveBatch,
  Outcome,
  ProviderSettings,
  Store,
  Writers,
} from "../store.ts";
import { exportArchive, importArchive } from "./archive.ts";
import { checkDatabase } from "./check.ts";
import { Database, endClient, openClient } from "./session/database.ts";
import { Memory } from "./session/memory.ts";
import { within } from "./session/patience.ts";
import { type Prepared, Session, WAITS } from "./session/session.ts";
import { translateAtOpening } from "./session/trouble.ts";
import { Watch } from "./session/watch.ts";
import { AccessTables } from "./tables/access.ts";
import { AuditTable } from "./tables/audit.ts";
import { CatalogueTables } from "./tables/catalogues.ts";
import { CheckoutSecretTable } from "./tables/checkout-secrets.ts";
import { CorrectionTables } from "./tables/corrections.ts";
import { CustomerImports } from "./tables/customer-imports.ts";
import { CustomerTables } from "./tables/customers.ts";
import { HistoryTables } from "./tables/history.ts";
import { PartnerTables } from "./tables/partners.ts";
import { RetentionTables } from "./tables/retention.ts";
import { SearchTables } from "./tables/search.ts";
import { TopUpTables } from "./tables/top-ups.ts";

/** While PostgreSQL works on one batch, this process makes the next ready, and the disk takes a third. */
const CONCURRENCY = { maxBatches: 4, worthwhile: 16 } as const;
/** The newest catalogue of each environment, and those that were quoted in the last five minutes. */
const CACHED_REVISIONS = 16;
/** Of the connections, for look-ups: batches that are held up must not take all. */
const SPARE_CONNECTIONS = 1;

const PING: Prepared = {
  name: "ping",
  text: `SELECT current_setting('transaction_read_only') = 'on' AS is_read_only,
    time_zone, currency_exponent, default_country FROM provider`,
};

/** What a store on a database that was opened works with. */
export interface PostgresStoreParts {
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE, with the options that the driver knows. */
  readonly url: string;
  /** How many sessions serve at a time. */
  readonly connections: number;
  readonly clock: () => Instant;
  readonly observeBatch?: ObserveBatch | undefined;
}

export class PostgresStore implements Store {
  readonly provider: ProviderSettings;
  readonly search: SearchTables;
  readonly corrections: CorrectionTables;
  readonly access: AccessTables;
  readonly auditTrail: AuditTable;
  readonly history: HistoryTables;
  readonly retention: RetentionTables;
  readonly #url: string;
  readonly #clock: () => Instant;
  readonly #database: Database;
  readonly #memory: Memory;
  readonly #watch: Watch;
  readonly #partners: PartnerTables;
  readonly #checkoutSecrets: CheckoutSecretTable;
  readonly #catalogues: CatalogueTables;
  readonly #customers: CustomerTables;
  readonly #imports: CustomerImports;
  readonly #topUps: TopUpTables;
  readonly #batcher: Batcher<SettlingItem, Settled>;

  constructor(options: PostgresStoreParts, provider: ProviderSettings) {
    const database = new Database(options);
    const memory = new Memory(() => this.#watch.isFresh);
    const revisions = new Memory(() => this.#watch.isFresh, CACHED_REVISIONS);
    this.provider = provider;
    this.#url = options.url;
    this.#clock = options.clock;
    this.#database = database;
    this.#memory = memory;
    this.#partners = new PartnerTables(database, memory);
    this.#checkoutSecrets = new CheckoutSecretTable(database, memory);
    this.#catalogues = new CatalogueTables(database, memory, revisions, provider);
    this.#customers = new CustomerTables(database, provider);
    this.search = new SearchTables(database, this.#customers, provider);
    this.corrections = new CorrectionTables(database, provider, options.clock);
    this.access = new AccessTables(database, this.#partners);
    this.auditTrail = new AuditTable(database);
    this.history = new HistoryTables(database, provider);
    this.retention = new RetentionTables(database, provider.calendar);
    this.#imports = new CustomerImports(database, provider);
    this.#topUps = new TopUpTables(database, this.#catalogues, provider, options.clock);
    this.#batcher = new Batcher({
      // Whatever holds it up for so long: what becomes of it is not known, and others are not to wait for it. Should it
      // go on yet, the rows that it locks keep it apart from them, as they do the batches of other processes.
      settle: (batch) =>
        within(
          WAITS.batch,
          this.#topUps.settle(batch),
          "a batch of top-ups was not settled in time, for no known reason",
        ),
      // What others hold up says nothing of the neighbours in the batch.
      isAway: (error) => error instanceof StoreUnavailable && !(error instanceof StoreContended),
      isHeldUp: (error) => error instanceof StoreContended,
      ...BATCH_LIMITS,
      overloaded,
      observe: options.observeBatch,
      concurrency: {
        ...CONCURRENCY,
        maxBatches: Math.max(1, Math.min(CONCURRENCY.maxBatches, options.connections - SPARE_CONNECTIONS)),
        lane: (item) => customerDigestIn(item.kind === "top_up" ? item.command.checkoutId : item.checkoutId),
      },
    });
    this.#watch = new Watch(options.url, {
      changed: () => memory.forget(),
      reconnected: () => revisions.forget(),
      unanswered: () => database.renew(),
      away: (why) => database.markAway(why),
      back: () => database.markBack(),
    });
  }

  async ping(): Promise<void> {
    const [row] = await this.#database.ask<ProviderRow & { readonly is_read_only: boolean }>(PING);
    if (row?.is_read_only !== false) throw new StoreUnavailable("PostgreSQL takes no writes");
    verifyProviderRow(row, this.provider);
    await this.#database.verifyCommits();
  }

  async close(): Promise<void> {
    await within(WAITS.closing, this.#batcher.drained(), "top-ups are still being settled").catch(() => {});
    await this.#watch.close();
    await this.#database.close();
  }

  addPartner(name: string, by: Attribution): Promise<Partner | "name_taken"> {
    return this.#partners.add(name, by);
  }

  setPartnerStatus(name: string, status: PartnerStatus, by: Attribution): Promise<Partner | undefined> {
    return this.#partners.setStatus(name, status, by);
  }

  findPartner(name: string): Promise<Partner | undefined> {
    return this.#partners.find(name);
  }

  listPartners(): Promise<Partner[]> {
    return this.#partners.list();
  }

  addAccessToken(token: AccessToken, hash: Uint8Array, by: Attribution): Promise<void> {
    return this.#partners.addToken(token, hash, by);
  }

  findAccessToken(hash: Uint8Array): Promise<AccessToken | undefined> {
    return this.#partners.findToken(hash);
  }

  listAccessTokens(): Promise<AccessToken[]> {
    return this.#partners.listTokens();
  }

  revokeAccessToken(id: string, by: Attribution): Promise<AccessToken | undefined> {
    return this.#partners.revokeToken(id, by);
  }

  checkoutSecrets(): Promise<readonly CheckoutSecret[]> {
    return this.#checkoutSecrets.list();
  }

  rotateCheckoutSecret(key: Uint8Array, by: Attribution, isClockRight = false): Promise<Rotation | RotationRefusal> {
    return this.#checkoutSecrets.rotate(key, by, isClockRight);
  }

  currentCatalogue(environment: Environment): Promise<Catalogue | undefined> {
    return this.#catalogues.current(environment);
  }

  publishCatalogue(...what: Parameters<CatalogueTables["publish"]>): Promise<Catalogue> {
    return this.#catalogues.publish(...what);
  }

  knownBouquets(environment: Environment): Promise<readonly Bouquet[]> {
    return this.#catalogues.known(environment);
  }

  lookUpCustomers(environment: Environment, code: string): Promise<CustomerOverview[]> {
    return this.#customers.lookUp(environment, code);
  }

  findConnection(key: ConnectionKey): Promise<FoundConnection | undefined> {
    return this.#customers.findConnection(key);
  }

  importCustomers(
    environment: Environment,
    customers: readonly StatedCustomer[],
    by: Attribution,
    mode: ImportMode,
  ): Promise<readonly CustomerEffect[]> {
    return this.#imports.import(environment, customers, by, mode);
  }

  previewCustomers(
    environment: Environment,
    customers: readonly StatedCustomer[],
    now: Instant,
    mode: ImportMode,
  ): Promise<readonly CustomerEffect[]> {
    return this.#imports.preview(environment, customers, now, mode);
  }

  settleTopUp(command: TopUpCommand): Promise<SettledTopUp> {
    return this.#batcher.add({ kind: "top_up", command }) as Promise<SettledTopUp>;
  }

  findTransaction(checkoutId: string): Promise<Transaction | undefined> {
    return this.#topUps.find(checkoutId);
  }

  findOutcome(checkoutId: string): Promise<Outcome> {
    return this.#topUps.findOutcome(checkoutId);
  }

  /**
   * Waits for whoever may be recording with this checkout, since both hold the customer, and then lets nobody
   * record with it any more.
   */
  concludeCheckout(checkoutId: string): Promise<Conclusion> {
    return this.#batcher.add({ kind: "conclusion", checkoutId }) as Promise<Conclusion>;
  }

  async *check(): AsyncIterable<CheckEvent> {
    const client = await this.#openClient();
    try {
      yield* checkDatabase(this.#url, new Session(client), this.provider, this.#clock());
    } finally {
      await endClient(client);
    }
  }

  exportArchive<Result>(writers: Writers, work: ArchiveWork<Result>): Promise<Result> {
    return this.#onOwnSession((session) => exportArchive(session, writers, work));
  }

  importArchive(chunks: AsyncIterable<ArchiveChunk>): Promise<ArchiveTotals> {
    return this.#onOwnSession((session) => importArchive(session, chunks, this.provider, this.#clock())).finally(() => {
      this.#memory.forget();
    });
  }

  async #onOwnSession<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    const client = await this.#openClient();
    try {
      return await work(new Session(client));
    } finally {
      await endClient(client);
    }
  }

  /** For work that may take as long as it needs. */
  #openClient() {
    return openClient(this.#url, "working").catch((error: unknown) => {
      throw translateAtOpening(error);
    });
  }
}
