import type { Instant } from "../../../domain/calendar.ts";
import type { CheckoutSecret } from "../../../domain/checkout-secret.ts";
import { type FirstSecretParts, firstSecret, HAS_TOP_UPS, NEWEST_TOP_UP } from "../../common/first-secret.ts";
import type { Database } from "../database.ts";

/** The SQL of the secrets that seal checkouts. */
export class CheckoutSecretTable {
  readonly #list;
  readonly #put;
  readonly #newestTopUp;

  constructor(database: Database) {
    this.#list = database.prepare(
      "SELECT id, key, created_at AS createdAt FROM checkout_secret ORDER BY created_at DESC, id DESC",
    );
    this.#newestTopUp = database.prepare(NEWEST_TOP_UP);
    this.#put = database.prepare("INSERT OR REPLACE INTO checkout_secret (id, key, created_at) VALUES (?, ?, ?)");
  }

  /** Newest first. */
  list(): CheckoutSecret[] {
    return this.#list.all() as CheckoutSecret[];
  }

  newestTopUp(): Instant | undefined {
    return this.#newestTopUp.get()?.["at"] as Instant | undefined;
  }

  put({ id, key, createdAt }: CheckoutSecret): void {
    this.#put.run(id, key, createdAt);
  }
}

/**
 * All processes on the file share the secret, so that each can open what another issued. To be called while opening.
 * @throws StoreRefused as {@link firstSecret}.
 */
export function ensureCheckoutSecret(database: Database, parts: FirstSecretParts): void {
  const secrets = new CheckoutSecretTable(database);
  database.findOrMake(
    () => secrets.list()[0],
    () => {
      const { has_top_ups } = database.prepare(HAS_TOP_UPS).get() as { has_top_ups: number };
      const secret = firstSecret(Boolean(has_top_ups), parts);
      secrets.put(secret);
      return secret;
    },
  );
}
