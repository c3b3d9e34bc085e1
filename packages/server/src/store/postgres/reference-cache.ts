import { setTimeout } from "node:timers/promises";
import type { Kysely } from "kysely";
import type { AccessToken } from "../../domain/access-token.ts";
import { type Catalogue, revisionInForce } from "../../domain/catalogue.ts";
import type { CheckoutSecret } from "../../domain/checkout.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { findToken, listSecrets } from "../access.ts";
import { ReferenceCache, readCatalogue, readSchedule, tokenKey } from "../reference-cache.ts";
import { type ProviderValues, refuseOtherProvider, SELECT_PROVIDER } from "../settings.ts";
import type { ProviderSettings } from "../store.ts";
import type { Tables } from "../tables.ts";
import { endClient, openClient } from "./database.ts";
import { type Prepared, Session } from "./session.ts";

/** Reads the number of the last audit entry: every change of reference data has one. */
const POLL: Prepared = {
  name: "reference_changes",
  text: `SELECT (SELECT coalesce(max(seq), 0) FROM audit_entry) AS version, p.* FROM (${SELECT_PROVIDER}) AS p`,
};
type PollRow = ProviderValues & { version: number };

const POLL_EVERY_MS = 400;
/** How long an answer, and with it the cache, is valid. A change must show within a second. */
const VALID_MS = 900;
const RETRY_EVERY_MS = 250;

interface Server {
  readonly url: string;
  /** The number of migrations that this process knows. */
  readonly known: number;
}

/**
 * The reference cache on PostgreSQL. Its own session asks several times a second whether staff changed anything, and then
 * clears the cache. Each new connection clears it too: a server that took over can have other rows under the same numbers.
 */
export class PostgresReferenceCache {
  readonly #server: Server;
  readonly #db: Kysely<Tables>;
  readonly #provider: ProviderSettings;
  readonly #cache = new ReferenceCache(() => !this.#lapse.aborted);
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** Aborted when the last answer is no longer valid. */
  #lapse = AbortSignal.abort();

  /** @param db reads missing values. */
  constructor(server: Server, db: Kysely<Tables>, provider: ProviderSettings) {
    this.#server = server;
    this.#db = db;
    this.#provider = provider;
    this.#running = this.#run();
  }

  async findToken(hash: Uint8Array): Promise<AccessToken | undefined> {
    return this.#cache.recall(tokenKey(hash), () => findToken(this.#db, hash));
  }

  /** Newest first. */
  async listSecrets(): Promise<readonly CheckoutSecret[]> {
    return this.#cache.recall("secrets", () => listSecrets(this.#db));
  }

  async currentCatalogue(environment: Environment, now: Instant): Promise<Catalogue | undefined> {
    const load = () => readSchedule(this.#db, environment);
    const revision = revisionInForce(await this.#cache.recall(`catalogue ${environment}`, load), now);
    return revision === undefined ? undefined : this.readCatalogue(revision);
  }

  /** @throws StoreUnavailable if this process would misread stored prices. */
  async readCatalogue(revision: number): Promise<Catalogue | undefined> {
    return this.#cache.recall(`revision ${revision}`, () => readCatalogue(this.#db, this.#provider, revision));
  }

  forget(): void {
    this.#cache.forget();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    this.#lapse = AbortSignal.abort();
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      await this.#pollOnOneSession().catch(() => {});
      await this.#pause(RETRY_EVERY_MS);
    }
  }

  async #pollOnOneSession(): Promise<void> {
    const { url, known } = this.#server;
    const client = await openClient(url, "serving", known);
    const session = new Session(client);
    let version: number | undefined;
    try {
      while (!this.#closing.signal.aborted) {
        // The time counts from the query, because its answer may be delayed.
        const lapse = AbortSignal.timeout(VALID_MS);
        const [row] = await session.run<PollRow>(POLL);
        refuseOtherProvider(row, this.#provider);
        if (version !== row?.version) this.forget();
        version = row?.version;
        this.#lapse = lapse;
        await this.#pause(POLL_EVERY_MS);
      }
    } finally {
      await endClient(client);
    }
  }

  async #pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#closing.signal }).catch(() => {});
  }
}
