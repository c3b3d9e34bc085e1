import type { AccessToken, Partner, PartnerStatus } from "../../domain/access-token.ts";
import type { Attribution } from "../../domain/audit.ts";
import * as auditOf from "../../domain/audited-changes.ts";
import type { Bouquet } from "../../domain/bouquet.ts";
import type { Instant } from "../../domain/calendar.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import { type CheckoutSecret, type Rotation, type RotationRefusal, rotation } from "../../domain/checkout-secret.ts";
import type { ConnectionKey, CustomerOverview, Environment } from "../../domain/customer.ts";
import type { ImportMode } from "../../domain/customer-import.ts";
import type { StatedCustomer } from "../../domain/customer-row.ts";
import type { CustomerEffect } from "../../domain/import-effect.ts";
import type { SettledTopUp, TopUpCommand, Transaction } from "../../domain/top-up.ts";
import { codesToFind } from "../common/provider-settings.ts";
import type {
  ArchiveChunk,
  ArchiveTotals,
  ArchiveWork,
  CheckEvent,
  Conclusion,
  FoundConnection,
  Outcome,
  ProviderSettings,
  Store,
  Writers,
} from "../store.ts";
import { exportArchive, importArchive } from "./archive.ts";
import { checkDatabase } from "./check.ts";
import { Database } from "./database.ts";
import { Memory } from "./memory.ts";
import { verifyProviderSettings } from "./provider.ts";
import { Settler, type SettlerParts } from "./settling/settler.ts";
import { AccessTables } from "./tables/access.ts";
import { type Tables, tablesOf } from "./tables/all-tables.ts";
import type { AuditTable } from "./tables/audit.ts";
import { CheckoutSecretTable } from "./tables/checkout-secrets.ts";
import { CorrectionTables } from "./tables/corrections.ts";
import { CustomerImports } from "./tables/customer-imports.ts";
import { HistoryTables } from "./tables/history.ts";
import { PartnerTables } from "./tables/partners.ts";
import { RetentionTables } from "./tables/retention.ts";
import { SearchTables } from "./tables/search.ts";

export class SqliteStore implements Store {
  readonly provider: ProviderSettings;
  readonly auditTrail: AuditTable;
  readonly #path: string;
  readonly #clock: () => Instant;
  readonly #database: Database;
  readonly #memory: Memory;
  readonly #tables: Tables;
  readonly #partners: PartnerTables;
  readonly #checkoutSecrets: CheckoutSecretTable;
  #imports: CustomerImports | undefined;
  #search: SearchTables | undefined;
  readonly #settler: Settler;

  constructor(database: Database, provider: ProviderSettings, parts: SettlerParts) {
    this.#path = parts.path;
    this.#clock = parts.clock;
    this.provider = provider;
    this.#database = database;
    this.#memory = new Memory(database);
    this.#tables = tablesOf(database, provider);
    this.auditTrail = this.#tables.audit;
    this.#partners = new PartnerTables(database, this.auditTrail);
    this.#checkoutSecrets = new CheckoutSecretTable(database);
    this.#settler = new Settler(database, this.#tables.topUps, provider, parts);
  }

  async ping(): Promise<void> {
    this.#database.ping();
    this.#database.ask(() => verifyProviderSettings(this.#database, this.provider));
    await this.#settler.ping();
  }

  async close(): Promise<void> {
    try {
      await this.#settler.close();
    } finally {
      this.#database.close();
    }
  }

  async addPartner(name: string, by: Attribution): Promise<Partner | "name_taken"> {
    return this.#change(() => this.#partners.add(name, by));
  }

  async setPartnerStatus(name: string, status: PartnerStatus, by: Attribution): Promise<Partner | undefined> {
    return this.#change(() => this.#partners.setStatus(name, status, by));
  }

  async findPartner(name: string): Promise<Partner | undefined> {
    return this.#database.ask(() => this.#partners.find(name));
  }

  async listPartners(): Promise<Partner[]> {
    return this.#database.ask(() => this.#partners.list());
  }

  async addAccessToken(token: AccessToken, hash: Uint8Array, by: Attribution): Promise<void> {
    await this.#change(() => this.#partners.addToken(token, hash, by));
  }

  async findAccessToken(hash: Uint8Array): Promise<AccessToken | undefined> {
    const key = `token ${Buffer.from(hash).toString("base64")}`;
    return this.#database.read(() => this.#memory.recall(key, () => this.#partners.findToken(hash)));
  }

  async listAccessTokens(): Promise<AccessToken[]> {
    return this.#database.ask(() => this.#partners.listTokens());
  }

  async revokeAccessToken(id: string, by: Attribution): Promise<AccessToken | undefined> {
    return this.#change(() => this.#partners.revokeToken(id, by));
  }

  async checkoutSecrets(): Promise<readonly CheckoutSecret[]> {
    const list = () => this.#checkoutSecrets.list();
    return this.#database.read(() => this.#memory.recall("secrets", list)) as readonly CheckoutSecret[];
  }

  async rotateCheckoutSecret(
    key: Uint8Array,
    by: Attribution,
    isClockRight = false,
  ): Promise<Rotation | RotationRefusal> {
    return this.#change(() => {
      const request = { key, now: by.at, isClockRight, newestTopUp: this.#checkoutSecrets.newestTopUp() };
      const rotated = rotation(this.#checkoutSecrets.list(), request);
      if (rotated === "too_soon" || "kind" in rotated) return rotated;
      for (const secret of [...rotated.redated, rotated.added]) this.#checkoutSecrets.put(secret);
      this.auditTrail.append(auditOf.secretRotated(rotated), by);
      return rotated;
    });
  }

  async currentCatalogue(environment: Environment): Promise<Catalogue | undefined> {
    const revision = () => this.#tables.catalogues.currentRevision(environment);
    return this.#database.read(() => {
      const current = this.#memory.recall(`catalogue ${environment}`, revision);
      return current === undefined ? undefined : this.#tables.catalogues.read(current);
    });
  }

  async publishCatalogue(...what: Parameters<Tables["catalogues"]["publish"]>): Promise<Catalogue> {
    return this.#change(() => this.#tables.catalogues.publish(...what));
  }

  async knownBouquets(environment: Environment): Promise<readonly Bouquet[]> {
    return this.#database.read(() => this.#tables.catalogues.known(environment));
  }

  async lookUpCustomers(environment: Environment, code: string): Promise<CustomerOverview[]> {
    return this.#database.read(() => this.#tables.customers.lookUp(environment, ...codesToFind(code, this.provider)));
  }

  async findConnection(key: ConnectionKey): Promise<FoundConnection | undefined> {
    return this.#database.read(() => this.#tables.customers.findConnection(key));
  }

  async importCustomers(
    environment: Environment,
    customers: readonly StatedCustomer[],
    by: Attribution,
    mode: ImportMode,
  ): Promise<readonly CustomerEffect[]> {
    return this.#database.write(() => {
      verifyProviderSettings(this.#database, this.provider);
      return this.#customerImports.import(environment, customers, by, mode, this.provider);
    });
  }

  async previewCustomers(
    environment: Environment,
    customers: readonly StatedCustomer[],
    now: Instant,
    mode: ImportMode,
  ): Promise<readonly CustomerEffect[]> {
    return this.#database.read(() => {
      verifyProviderSettings(this.#database, this.provider);
      return this.#customerImports.preview(environment, customers, now, mode, this.provider);
    });
  }

  settleTopUp(command: TopUpCommand): Promise<SettledTopUp> {
    return this.#settler.topUp(command);
  }

  async findTransaction(checkoutId: string): Promise<Transaction | undefined> {
    // Once recorded, always recorded; that it is not must hold for all that was answered by now.
    const seen = this.#database.read(() => this.#tables.topUps.find(checkoutId));
    return seen ?? this.#database.ask(() => this.#tables.topUps.find(checkoutId));
  }

  async findOutcome(checkoutId: string): Promise<Outcome> {
    const found = await this.findTransaction(checkoutId);
    // Asked after it: what is retired by now is not recorded any more.
    if (found !== undefined) return found;
    const retiredAt = this.#database.ask(() => this.#tables.topUps.retiredAt(checkoutId));
    return retiredAt === undefined ? undefined : { retiredAt };
  }

  /*
   * A commit that a crash or a failing disk interrupted may lie at the end of the write-ahead log, unseen,
   * until SQLite recovers it. The write that retires the checkout takes its place there.
   */
  concludeCheckout(checkoutId: string): Promise<Conclusion> {
    return this.#settler.conclude(checkoutId);
  }

  get corrections(): CorrectionTables {
    return new CorrectionTables(this.#database, this.#tables, {
      calendar: this.provider.calendar,
      clock: this.#clock,
    });
  }

  get retention(): RetentionTables {
    return new RetentionTables(this.#database, this.auditTrail, this.provider.calendar);
  }

  get history(): HistoryTables {
    return new HistoryTables(this.#database, this.auditTrail, this.provider);
  }

  get access(): AccessTables {
    return new AccessTables(this.#database, { audit: this.auditTrail, memory: this.#memory, partners: this.#partners });
  }

  /** Made when it is first asked for, as for imports. */
  get search(): SearchTables {
    this.#search ??= new SearchTables(this.#database, this.#tables.customers, this.provider);
    return this.#search;
  }

  /** Made only here: a service that serves has no use for its statements. */
  get #customerImports(): CustomerImports {
    this.#imports ??= new CustomerImports(this.#database, this.auditTrail);
    return this.#imports;
  }

  /** On a connection of its own: others may use the store while the check has its one view of it. */
  async *check(): AsyncIterable<CheckEvent> {
    const view = this.#newConnection();
    try {
      yield* checkDatabase(view, this.provider, this.#clock());
    } finally {
      view.close();
    }
  }

  exportArchive<Result>(writers: Writers, work: ArchiveWork<Result>): Promise<Result> {
    return exportArchive(() => this.#newConnection(), writers, work);
  }

  importArchive(chunks: AsyncIterable<ArchiveChunk>): Promise<ArchiveTotals> {
    return importArchive(() => this.#newConnection(), chunks, this.provider, this.#clock());
  }

  #newConnection(): Database {
    return new Database(this.#path, { mustExist: true, files: this.#database.files });
  }

  /** As a write, of something that every process keeps in memory. */
  async #change<Result>(work: () => Result): Promise<Result> {
    const result = await this.#database.write(work);
    this.#memory.forget();
    return result;
  }
}
