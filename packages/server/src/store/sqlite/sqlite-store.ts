import type { AccessToken } from "../../domain/access-token.ts";
import type { Attribution } from "../../domain/audit.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import type { CheckoutSecret } from "../../domain/checkout-secret.ts";
import type { ConnectionKey, CustomerOverview, Environment } from "../../domain/customer.ts";
import type { CustomerEffect } from "../../domain/customer-audit.ts";
import type { SettledTopUp, TopUpCommand, Transaction } from "../../domain/top-up.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { exportArchive } from "../archive.ts";
import { importArchive } from "../archive-filling.ts";
import { type BackOffice, backOffice } from "../back-office/back-office.ts";
import { Batcher } from "../batcher.ts";
import { StoreUnavailable } from "../errors.ts";
import { BATCH_LIMITS, overloaded, type Settled, type SettlingItem } from "../settling.ts";
import type {
  ArchiveChunk,
  ArchiveTotals,
  ArchiveWork,
  CheckEvent,
  Conclusion,
  CustomerRowOfFile,
  FileRules,
  FoundConnection,
  ObserveBatch,
  Outcome,
  ProviderSettings,
  Store,
  Writers,
} from "../store.ts";
import { checkFile } from "./check.ts";
import { CustomerImports } from "./customer-imports.ts";
import { CustomerTables } from "./customers.ts";
import { Database } from "./database.ts";
import type { createSqliteEngine } from "./engine.ts";
import { ReferenceTables } from "./reference.ts";
import { SettlerClient } from "./settling/settler-client.ts";
import { settleIn } from "./settling/settling.ts";
import { TopUpTables } from "./top-ups.ts";
import { isDamage, translate } from "./trouble.ts";

export interface SqliteStoreParts {
  readonly path: string;
  readonly clock: () => Instant;
  readonly observeBatch?: ObserveBatch | undefined;
  /** The socket of the settler, for a process that is one of several; the others settle by themselves. */
  readonly settlerSocket?: string | undefined;
}

export class SqliteStore implements Store {
  readonly provider: ProviderSettings;
  readonly partners: Store["partners"];
  readonly secrets: Store["secrets"];
  readonly catalogues: Store["catalogues"];
  readonly corrections: Store["corrections"];
  readonly search: Store["search"];
  readonly auditTrail: Store["auditTrail"];
  readonly retention: Store["retention"];
  readonly #path: string;
  readonly #database: Database;
  readonly #engine: ReturnType<typeof createSqliteEngine>;
  readonly #backOffice: BackOffice;
  readonly #reference: ReferenceTables;
  readonly #customers: CustomerTables;
  readonly #topUps: TopUpTables;
  #imports: CustomerImports | undefined;
  readonly #settler: SettlerClient | undefined;
  readonly #batcher: Batcher<SettlingItem, Settled>;
  #isClosed = false;

  /** @param engine for what staff ask and change, on a connection of its own. */
  constructor(
    database: Database,
    engine: ReturnType<typeof createSqliteEngine>,
    provider: ProviderSettings,
    { path, clock, observeBatch, settlerSocket }: SqliteStoreParts,
  ) {
    this.provider = provider;
    this.#path = path;
    this.#database = database;
    this.#engine = engine;
    this.#backOffice = backOffice(engine, provider, clock);
    this.partners = this.#backOffice.partners;
    this.secrets = this.#backOffice.secrets;
    this.catalogues = this.#backOffice.catalogues;
    this.corrections = this.#backOffice.corrections;
    this.search = this.#backOffice.search;
    this.auditTrail = this.#backOffice.auditTrail;
    this.retention = this.#backOffice.retention;
    this.#reference = new ReferenceTables(database, provider);
    this.#customers = new CustomerTables(database, provider);
    this.#topUps = new TopUpTables(database, { customers: this.#customers, reference: this.#reference, provider });
    // Whoever is answered may ask at once, and is to see what was settled.
    this.#settler =
      settlerSocket === undefined
        ? undefined
        : new SettlerClient(settlerSocket, provider.zone, () => database.seeAnew());
    this.#batcher = new Batcher({
      settle: settleIn(database, this.#topUps, provider, clock),
      isAway: (error) => error instanceof StoreUnavailable,
      ...BATCH_LIMITS,
      overloaded,
      observe: observeBatch,
    });
  }

  /** Resolves once top-ups can be settled. */
  async ready(): Promise<void> {
    await this.#settler?.connected;
  }

  async ping(): Promise<void> {
    this.#database.ping();
    await this.#settler?.ping();
  }

  /** Nothing is taken from now on. Resolves once nothing is being settled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#batcher.drained();
    await this.#settler?.close();
    await this.#engine.close();
    this.#database.close();
  }

  async findAccessToken(hash: Uint8Array): Promise<AccessToken | undefined> {
    return this.#database.read(() => this.#reference.findToken(hash));
  }

  async checkoutSecrets(): Promise<readonly CheckoutSecret[]> {
    return this.#database.read(() => this.#reference.listSecrets());
  }

  async currentCatalogue(environment: Environment): Promise<Catalogue | undefined> {
    return this.#database.read(() => this.#reference.currentCatalogue(environment));
  }

  async lookUpCustomers(environment: Environment, code: string): Promise<CustomerOverview[]> {
    return this.#database.read(() => this.#customers.lookUp(environment, code));
  }

  async findConnection(key: ConnectionKey): Promise<FoundConnection | undefined> {
    return this.#database.read(() => this.#customers.findConnection(key));
  }

  settleTopUp(command: TopUpCommand): Promise<SettledTopUp> {
    return this.#settle({ kind: "top_up", command }) as Promise<SettledTopUp>;
  }

  async findTransaction(checkoutId: string): Promise<Transaction | undefined> {
    // Once recorded, always recorded; that it is not must hold for all that was answered by now.
    const seen = this.#database.read(() => this.#topUps.find(checkoutId));
    return seen ?? this.#database.ask(() => this.#topUps.find(checkoutId));
  }

  async findOutcome(checkoutId: string): Promise<Outcome> {
    const seen = this.#database.read(() => this.#topUps.find(checkoutId));
    return seen ?? this.#database.ask(() => this.#topUps.findOutcome(checkoutId));
  }

  /*
   * A commit that a crash or a failing disk interrupted may lie at the end of the write-ahead log, unseen,
   * until SQLite recovers it. The write that retires the checkout takes its place there.
   */
  concludeCheckout(checkoutId: string): Promise<Conclusion> {
    return this.#settle({ kind: "conclusion", checkoutId }) as Promise<Conclusion>;
  }

  importCustomers(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    by: Attribution,
    rules: FileRules,
  ): Promise<readonly CustomerEffect[]> {
    return this.#database.write(() => this.#customerImports.import(environment, rows, by, rules));
  }

  confirmCustomers(environment: Environment, rows: readonly CustomerRowOfFile[]): Promise<void> {
    return this.#database.write(() => this.#customerImports.confirm(environment, rows));
  }

  async previewCustomers(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    rules: FileRules,
  ): Promise<readonly CustomerEffect[]> {
    return this.#database.read(() => this.#customerImports.preview(environment, rows, rules));
  }

  async *check(): AsyncIterable<CheckEvent> {
    const database = new Database(this.#path, { mustExist: true });
    try {
      yield* checkFile(database);
      yield* this.#backOffice.check();
    } catch (error) {
      const translated = translate(error);
      if (!isDamage(translated)) throw translated;
      yield { kind: "wrong", what: `integrity: ${(translated as Error).message}` };
    } finally {
      database.close();
    }
  }

  exportArchive<Result>(writers: Writers, work: ArchiveWork<Result>): Promise<Result> {
    return exportArchive(this.#engine, writers, work);
  }

  importArchive(chunks: AsyncIterable<ArchiveChunk>): Promise<ArchiveTotals> {
    return importArchive(this.#engine, chunks, this.provider);
  }

  async #settle(item: SettlingItem): Promise<Settled> {
    if (this.#isClosed) throw new StoreUnavailable("the store is closed");
    return this.#settler === undefined ? this.#batcher.add(item) : this.#settler.settle(item);
  }

  /** Made when it is first asked for: a service that serves partners has no use for its statements. */
  get #customerImports(): CustomerImports {
    this.#imports ??= new CustomerImports(this.#database, this.provider);
    return this.#imports;
  }
}
