import type { AccessToken } from "../../domain/access-token.ts";
import type { Catalogue } from "../../domain/catalogue.ts";
import type { CheckoutSecret } from "../../domain/checkout-secret.ts";
import type { Environment } from "../../domain/customer.ts";
import { type TokenRow, toAccessToken } from "../back-office/access.ts";
import { toBouquet } from "../rows.ts";
import { refuseOtherProvider } from "../settings.ts";
import type { ProviderSettings } from "../store.ts";
import type { BouquetRow, CheckoutSecretRow, ProviderRow } from "../tables.ts";
import type { Database } from "./database.ts";

/** Entries are small, and few partners have many tokens; what is beyond this is asked for anew. */
const MOST_VALUES = 10_000;
/** Revisions in use at one time: the newest of each environment, and those quoted in the last five minutes. */
const MOST_REVISIONS = 16;

const TOKEN = `SELECT t.id, t.environment, t.created_at, t.expires_at, t.revoked_at, t.replaced_by,
    p.id AS partner_id, p.name, p.status, p.created_at AS partner_created_at, p.allowed_addresses
  FROM access_token AS t JOIN partner AS p ON p.id = t.partner_id WHERE t.hash = ?`;
const SECRETS = "SELECT id, key, created_at FROM checkout_secret ORDER BY created_at DESC, id DESC";
const CURRENT_REVISION = "SELECT max(revision) AS revision FROM catalogue_revision WHERE environment = ?";
const BOUQUETS = "SELECT * FROM bouquet WHERE revision = ? ORDER BY position";
const PROVIDER = "SELECT time_zone, currency_exponent, default_country FROM provider";

/**
 * What every request asks for and staff alone change: tokens, secrets, catalogues. It is kept in memory. SQLite tells
 * cheaply whether another connection has committed anything since; where the audit trail, which tells of every change by
 * staff, has grown by it, all is forgotten but for revisions, which never change. To be called on a view, within
 * {@link Database.read}, or in a transaction.
 */
export class ReferenceTables {
  readonly #database: Database;
  readonly #provider: ProviderSettings;
  readonly #version;
  readonly #lastChange;
  readonly #token;
  readonly #secrets;
  readonly #currentRevision;
  readonly #bouquets;
  /** What each token's hash is recalled by. */
  readonly #keys = new WeakMap<Uint8Array, string>();
  readonly #values = new Map<string, unknown>();
  readonly #revisions = new Map<number, Catalogue>();
  #seen: number | undefined;
  #seenChange: number | undefined;
  /** The view in which the version was asked for: it is the same throughout. */
  #seenIn: number | undefined;

  constructor(database: Database, provider: ProviderSettings) {
    this.#database = database;
    this.#provider = provider;
    this.#version = database.prepareRows<{ data_version: number }>("PRAGMA data_version");
    this.#lastChange = database.prepareRows<{ seq: number | null }>("SELECT max(seq) AS seq FROM audit_entry");
    this.#token = database.prepareRows<TokenRow>(TOKEN);
    this.#secrets = database.prepareRows<CheckoutSecretRow>(SECRETS);
    this.#currentRevision = database.prepareRows<{ revision: number | null }>(CURRENT_REVISION);
    this.#bouquets = database.prepareRows<BouquetRow>(BOUQUETS);
  }

  findToken(hash: Uint8Array): AccessToken | undefined {
    let key = this.#keys.get(hash);
    if (key === undefined) {
      key = `token ${Buffer.from(hash).toString("base64")}`;
      this.#keys.set(hash, key);
    }
    return this.#recall(key, () => this.#token(hash).map(toAccessToken)[0]);
  }

  /** Newest first. */
  listSecrets(): readonly CheckoutSecret[] {
    const load = () => this.#secrets().map(({ id, key, created_at: createdAt }) => ({ id, key, createdAt }));
    return this.#recall("secrets", load) ?? [];
  }

  currentCatalogue(environment: Environment): Catalogue | undefined {
    const load = () => this.#currentRevision(environment)[0]?.revision ?? undefined;
    const revision = this.#recall(`catalogue ${environment}`, load);
    return revision === undefined ? undefined : this.readCatalogue(revision);
  }

  /** @throws StoreUnavailable where this process would take a stored price for another. */
  readCatalogue(revision: number): Catalogue | undefined {
    const known = this.#revisions.get(revision);
    if (known !== undefined) return known;
    refuseOtherProvider(this.#database.prepare(PROVIDER).get() as ProviderRow | undefined, this.#provider);
    const bouquets = this.#bouquets(revision).map(toBouquet);
    if (bouquets.length === 0) return undefined;
    const catalogue = { revision, bouquets };
    if (this.#revisions.size >= MOST_REVISIONS) this.#revisions.delete(this.#revisions.keys().next().value as number);
    this.#revisions.set(revision, catalogue);
    return catalogue;
  }

  /** What is not there is not remembered: whoever asks for what does not exist would fill the memory with it. */
  #recall<Value>(key: string, load: () => Value | undefined): Value | undefined {
    if (this.#database.view !== this.#seenIn) this.#forgetWhereChanged();
    const known = this.#values.get(key);
    if (known !== undefined) return known as Value;
    const value = load();
    if (value !== undefined) {
      if (this.#values.size >= MOST_VALUES) this.#values.clear();
      this.#values.set(key, value);
    }
    return value;
  }

  #forgetWhereChanged(): void {
    const version = this.#version()[0]?.data_version;
    this.#seenIn = this.#database.view;
    if (version === this.#seen) return;
    this.#seen = version;
    const change = this.#lastChange()[0]?.seq ?? 0;
    if (change !== this.#seenChange) this.#values.clear();
    this.#seenChange = change;
  }
}
