import type { Instant } from "../../domain/calendar.ts";
import { CHECKOUT_KEY_BYTES, type CheckoutSecret } from "../../domain/checkout-secret.ts";
import { StoreRefused } from "../errors.ts";

/** Whether anything is on record by a checkoutId. */
export const HAS_TOP_UPS = "SELECT EXISTS (SELECT 1 FROM top_up) AS has_top_ups";

export interface FirstSecretParts {
  readonly clock: () => Instant;
  readonly random: (bytes: number) => Uint8Array;
}

/**
 * The secret of a database that has none.
 * @throws StoreRefused where one has been there: no other opens what it sealed, so that what becomes of a checkoutId
 *   that was given out could be told of those on record alone; and whoever took it away may have taken more.
 */
export function firstSecret(hasTopUps: boolean, { clock, random }: FirstSecretParts): CheckoutSecret {
  if (!hasTopUps) return { id: 0, key: random(CHECKOUT_KEY_BYTES), createdAt: clock() };
  throw new StoreRefused(
    "the database has top-ups, but no checkout secret is left in it (table checkout_secret), and no other opens what it sealed: restore a backup, or put its rows back from one by hand; nothing was written",
  );
}
