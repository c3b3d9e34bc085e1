import type { AccessToken } from "../../domain/access-token.ts";
import { type Catalogue, revisionInForce, type Scheduled } from "../../domain/catalogue.ts";
import type { CheckoutSecret } from "../../domain/checkout.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { type TokenRow, toAccessToken } from "../access.ts";
import { ReferenceCache, toBouquet, tokenKey } from "../reference-cache.ts";
import { type ProviderValues, refuseOtherProvider, SELECT_PROVIDER } from "../settings.ts";
import type { ProviderSettings } from "../store.ts";
import type { BouquetRow } from "../tables.ts";
import type { Database } from "./database.ts";

/** Catalogue revisions kept: the newest of each environment, and those quoted in the last five minutes. */
const MOST_REVISIONS = 16;

const TOKEN = `SELECT t.id, t.environment, t.created_at AS "createdAt", t.expires_at AS "expiresAt",
    t.revoked_at AS "revokedAt", t.replaced_by AS "replacedBy", p.id AS "partnerId", p.name, p.status,
    p.created_at AS "partnerCreatedAt", p.allowed_addresses AS "allowedAddresses", p.limits, p.commission,
    p.legal
  FROM access_token AS t JOIN partner AS p ON p.id = t.partner_id WHERE t.hash = ?`;
const SECRETS = 'SELECT id, key, created_at AS "createdAt" FROM checkout_secret ORDER BY created_at DESC, id DESC';
/** The same as readSchedule. */
const SCHEDULE = `SELECT revision, created_at AS "createdAt", in_force_at AS "inForceAt" FROM catalogue_revision
  WHERE environment = ?1 AND in_force_at IS NOT NULL AND revision >= (SELECT coalesce(max(revision), 0)
    FROM catalogue_revision WHERE environment = ?1 AND in_force_at = created_at) ORDER BY revision DESC`;
const BOUQUETS = 'SELECT *, add_on AS "addOn" FROM bouquet WHERE revision = ? ORDER BY position';

/**
 * The reference cache on SQLite, which shows cheaply whether another connection has committed. Every change by staff has an
 * audit entry: a new entry clears the cache, except catalogue revisions, which never change. Must be called within
 * {@link Database.read} or in a transaction.
 */
export class SqliteReferenceCache {
  readonly #database: Database;
  readonly #provider: ProviderSettings;
  readonly #version;
  readonly #lastChange;
  readonly #token;
  readonly #secrets;
  readonly #schedule;
  readonly #bouquets;
  readonly #cache = new ReferenceCache(() => this.#forgetIfChanged());
  readonly #revisions = new ReferenceCache(() => true, MOST_REVISIONS);
  #seen: number | undefined;
  #seenChange: number | undefined;
  /** View of the last read version. The version does not change within a view. */
  #seenIn: number | undefined;

  constructor(database: Database, provider: ProviderSettings) {
    this.#database = database;
    this.#provider = provider;
    this.#version = database.prepareRows<{ data_version: number }>("PRAGMA data_version");
    this.#lastChange = database.prepareRows<{ seq: number | null }>("SELECT max(seq) AS seq FROM audit_entry");
    this.#token = database.prepareRows<TokenRow>(TOKEN);
    this.#secrets = database.prepareRows<CheckoutSecret>(SECRETS);
    this.#schedule = database.prepareRows<Scheduled>(SCHEDULE);
    this.#bouquets = database.prepareRows<BouquetRow>(BOUQUETS);
  }

  findToken(hash: Uint8Array): AccessToken | undefined {
    return this.#cache.recall(tokenKey(hash), () => this.#token(hash).map(toAccessToken)[0]);
  }

  /** Newest first. */
  listSecrets(): readonly CheckoutSecret[] {
    return this.#cache.recall("secrets", () => this.#secrets());
  }

  currentCatalogue(environment: Environment, now: Instant): Catalogue | undefined {
    const schedule = this.#cache.recall(`catalogue ${environment}`, () => this.#schedule(environment));
    const revision = revisionInForce(schedule, now);
    return revision === undefined ? undefined : this.readCatalogue(revision);
  }

  /** @throws StoreUnavailable if this process would misread stored prices. */
  readCatalogue(revision: number): Catalogue | undefined {
    return this.#revisions.recall(`revision ${revision}`, () => {
      refuseOtherProvider(this.#database.prepare(SELECT_PROVIDER).get() as ProviderValues | undefined, this.#provider);
      const bouquets = this.#bouquets(revision).map(toBouquet);
      return bouquets.length === 0 ? undefined : { revision, bouquets };
    });
  }

  #forgetIfChanged(): true {
    if (this.#database.view === this.#seenIn) return true;
    const version = this.#version()[0]?.data_version;
    this.#seenIn = this.#database.view;
    if (version === this.#seen) return true;
    this.#seen = version;
    const change = this.#lastChange()[0]?.seq ?? 0;
    if (change !== this.#seenChange) this.#cache.forget();
    this.#seenChange = change;
    return true;
  }
}
