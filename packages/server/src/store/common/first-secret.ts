import type { Instant } from "../../domain/calendar.ts";
import { CHECKOUT_KEY_BYTES, type CheckoutSecret } from "../../domain/checkout-secret.ts";
import { StoreRefused } from "../errors.ts";

/** Whether anything is on record by a checkoutId. */
export const HAS_TOP_UPS = "SELECT EXISTS (SELECT 1 FROM top_up) AS has_top_ups";

/** A txnId begins with its time. */
export const NEWEST_TOP_UP = "SELECT at FROM top_up ORDER BY txn_id DESC LIMIT 1";

export interface FirstSecretParts {
  readonly clock: () => Instant;
  readonly random: (bytes: number) => Uint8Array;
}

/**
 * The secret of a database that has none.
 * @throws StoreRefused where there are top-ups, and so there was a secret that is lost. A new one would not open the
 *   checkoutIds that the lost one has sealed: of those that are not on record, nobody could tell any more whether they
 *   were ever issued. And what lost the secret may have lost more.
 */
export function firstSecret(hasTopUps: boolean, { clock, random }: FirstSecretParts): CheckoutSecret {
  if (!hasTopUps) return { id: 0, key: random(CHECKOUT_KEY_BYTES), createdAt: clock() };
  throw new StoreRefused(
    "the database has top-ups, but no checkout secret is left in it (table checkout_secret), and no other opens what it sealed: restore a backup, or put its rows back from one by hand; nothing was written",
  );
}
