import type { AccessToken } from "../../domain/access-token.ts";
import type { Attribution } from "../../domain/audit.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import { customerDigestIn } from "../../domain/checkout.ts";
import type { CheckoutSecret } from "../../domain/checkout-secret.ts";
import type { ConnectionKey, CustomerOverview, Environment } from "../../domain/customer.ts";
import type { CustomerEffect } from "../../domain/customer-audit.ts";
import type { SettledTopUp, TopUpCommand, Transaction } from "../../domain/top-up.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { exportArchive } from "../archive.ts";
import { importArchive } from "../archive-filling.ts";
import { type BackOffice, backOffice } from "../back-office/back-office.ts";
import type { Engine } from "../back-office/engine.ts";
import { Batcher } from "../batcher.ts";
import { StoreContended, StoreUnavailable } from "../errors.ts";
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
import { Database } from "./session/database.ts";
import { Memory } from "./session/memory.ts";
import type { Prepared } from "./session/session.ts";
import { Watch } from "./session/watch.ts";
import { CustomerImports } from "./tables/customer-imports.ts";
import { CustomerTables } from "./tables/customers.ts";
import { TopUpTables } from "./tables/top-ups.ts";

/** While PostgreSQL works on one batch, this process makes the next ready, and the disk takes a third. */
const CONCURRENCY = { maxBatches: 4, worthwhile: 16 } as const;
/** Of the connections, for look-ups: batches that are held up must not take all. */
const SPARE_CONNECTIONS = 1;
/** Tokens are small, and few partners have many. */
const CACHED_VALUES = 10_000;
/** The newest catalogue of each environment, and those that were quoted in the last five minutes. */
const CACHED_REVISIONS = 16;

const PING: Prepared = { name: "ping", text: "SELECT current_setting('transaction_read_only') = 'on' AS is_read_only" };
const DURABILITY: Prepared = {
  name: "durability",
  text: `SELECT current_setting('synchronous_commit') AS commit,
    current_setting('full_page_writes') AS pages`,
};

export interface PostgresStoreOptions {
  /** postgres://USER:PASSWORD@HOST:PORT/DATABASE, with the options that the driver knows. */
  readonly url: string;
  /** How many sessions serve partners at a time. */
  readonly connections: number;
  readonly clock: () => Instant;
  readonly observeBatch?: ObserveBatch | undefined;
}

/** What opening has made: for what staff ask and change, and what the database's times and amounts mean. */
export interface PostgresStoreParts {
  readonly office: Database;
  readonly engine: Engine;
  readonly provider: ProviderSettings;
}

export class PostgresStore implements Store {
  readonly provider: ProviderSettings;
  readonly partners: Store["partners"];
  readonly secrets: Store["secrets"];
  readonly catalogues: Store["catalogues"];
  readonly corrections: Store["corrections"];
  readonly search: Store["search"];
  readonly auditTrail: Store["auditTrail"];
  readonly retention: Store["retention"];
  readonly #serving: Database;
  readonly #office: Database;
  readonly #engine: Engine;
  readonly #backOffice: BackOffice;
  readonly #watch: Watch;
  readonly #memory: Memory;
  readonly #revisions: Memory;
  readonly #customers: CustomerTables;
  readonly #imports: CustomerImports;
  readonly #topUps: TopUpTables;
  readonly #batcher: Batcher<SettlingItem, Settled>;

  constructor(options: PostgresStoreOptions, { office, engine, provider }: PostgresStoreParts) {
    const { url, connections, clock } = options;
    const serving = new Database({ url, connections, purpose: "serving" });
    this.provider = provider;
    this.#serving = serving;
    this.#office = office;
    this.#engine = engine;
    this.#memory = new Memory(() => this.#watch.isFresh, CACHED_VALUES);
    this.#revisions = new Memory(() => this.#watch.isFresh, CACHED_REVISIONS);
    this.#backOffice = backOffice(engine, provider, clock);
    this.partners = this.#backOffice.partners;
    this.secrets = this.#backOffice.secrets;
    this.catalogues = this.#backOffice.catalogues;
    this.corrections = this.#backOffice.corrections;
    this.search = this.#backOffice.search;
    this.auditTrail = this.#backOffice.auditTrail;
    this.retention = this.#backOffice.retention;
    this.#customers = new CustomerTables(serving, provider);
    this.#imports = new CustomerImports(serving, provider);
    const readCatalogue = (revision: number) => this.#readCatalogue(revision);
    this.#topUps = new TopUpTables({ database: serving, provider, clock, readCatalogue });
    this.#batcher = new Batcher({
      settle: (batch) => this.#topUps.settle(batch),
      // What others hold up says nothing of the neighbours in the batch.
      isAway: (error) => error instanceof StoreUnavailable && !(error instanceof StoreContended),
      isHeldUp: (error) => error instanceof StoreContended,
      ...BATCH_LIMITS,
      overloaded,
      observe: options.observeBatch,
      concurrency: {
        ...CONCURRENCY,
        maxBatches: Math.max(1, Math.min(CONCURRENCY.maxBatches, connections - SPARE_CONNECTIONS)),
        lane: (item) => customerDigestIn(item.kind === "top_up" ? item.command.checkoutId : item.checkoutId),
      },
    });
    this.#watch = new Watch(url, provider, {
      changed: () => this.#memory.forget(),
      reconnected: () => this.#revisions.forget(),
      away: (why) => {
        serving.markAway(why);
        office.markAway(why);
      },
      back: () => {
        serving.markBack();
        office.markBack();
      },
    });
  }

  /** To be told of every change of what is kept in memory that this process makes. */
  forget(): void {
    this.#memory.forget();
  }

  async ping(): Promise<void> {
    const [row] = await this.#serving.ask<{ readonly is_read_only: boolean }>([PING]);
    if (row?.is_read_only !== false) throw new StoreUnavailable("PostgreSQL takes no writes");
  }

  async close(): Promise<void> {
    await this.#batcher.drained();
    await this.#watch.close();
    await Promise.all([this.#serving.close(), this.#office.close()]);
  }

  findAccessToken(hash: Uint8Array): Promise<AccessToken | undefined> {
    const key = `token ${Buffer.from(hash).toString("hex")}`;
    return this.#memory.recall(key, () => this.#backOffice.findToken(hash));
  }

  async checkoutSecrets(): Promise<readonly CheckoutSecret[]> {
    return (await this.#memory.recall("secrets", () => this.#backOffice.listSecrets())) ?? [];
  }

  async currentCatalogue(environment: Environment): Promise<Catalogue | undefined> {
    const find = () => this.#backOffice.currentRevision(environment);
    const revision = await this.#memory.recall(`catalogue ${environment}`, find);
    return revision === undefined ? undefined : this.#readCatalogue(revision);
  }

  lookUpCustomers(environment: Environment, code: string): Promise<CustomerOverview[]> {
    return this.#customers.lookUp(environment, code);
  }

  findConnection(key: ConnectionKey): Promise<FoundConnection | undefined> {
    return this.#customers.findConnection(key);
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

  concludeCheckout(checkoutId: string): Promise<Conclusion> {
    return this.#batcher.add({ kind: "conclusion", checkoutId }) as Promise<Conclusion>;
  }

  importCustomers(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    by: Attribution,
    rules: FileRules,
  ): Promise<readonly CustomerEffect[]> {
    return this.#imports.import(environment, rows, by, rules);
  }

  confirmCustomers(environment: Environment, rows: readonly CustomerRowOfFile[]): Promise<void> {
    return this.#imports.confirm(environment, rows);
  }

  previewCustomers(
    environment: Environment,
    rows: readonly CustomerRowOfFile[],
    rules: FileRules,
  ): Promise<readonly CustomerEffect[]> {
    return this.#imports.preview(environment, rows, rules);
  }

  async *check(): AsyncIterable<CheckEvent> {
    const [found] = await this.#office.ask<{ commit: string; pages: string }>([DURABILITY]);
    yield { kind: "checked", what: `durability: fsync=on, synchronous_commit=${found?.commit}`, count: 1 };
    if (found?.pages !== "on")
      yield { kind: "wrong", what: "durability: full_page_writes=off, which only a few file systems make up for" };
    yield* this.#backOffice.check();
  }

  exportArchive<Result>(writers: Writers, work: ArchiveWork<Result>): Promise<Result> {
    return exportArchive(this.#engine, writers, work);
  }

  importArchive(chunks: AsyncIterable<ArchiveChunk>): Promise<ArchiveTotals> {
    return importArchive(this.#engine, chunks, this.provider).finally(() => this.forget());
  }

  /** A revision never changes on one server, so each is read once. */
  #readCatalogue(revision: number): Promise<Catalogue | undefined> {
    return this.#revisions.recall(String(revision), () => this.#backOffice.readCatalogue(revision));
  }
}
