import type { CheckoutSecret } from "../../domain/checkout-secret.ts";
import type { Database } from "./database.ts";

/** The SQL of the secrets that seal checkouts. */
export class CheckoutSecretTable {
  readonly #list;
  readonly #put;

  constructor(database: Database) {
    this.#list = database.prepare(
      "SELECT id, key, created_at AS createdAt FROM checkout_secret ORDER BY created_at DESC, id DESC",
    );
    this.#put = database.prepare("INSERT OR REPLACE INTO checkout_secret (id, key, created_at) VALUES (?, ?, ?)");
  }

  /** Newest first. */
  list(): CheckoutSecret[] {
    return this.#list.all() as CheckoutSecret[];
  }

  put({ id, key, createdAt }: CheckoutSecret): void {
    this.#put.run(id, key, createdAt);
  }
}
