import {
  CHECKOUT_KEY_BYTES,
  type CheckoutSecret,
  SECRET_REST_MS,
  sealingSecret,
} from "../../domain/checkout-secret.ts";
import type { Instant } from "../../domain/wall-time.ts";
import { type Actor, attributionOf, type Ports } from "../ports.ts";

/** A secret without what is secret. */
export interface ListedSecret extends Omit<CheckoutSecret, "key"> {
  /** Whether new checkouts are sealed with it. */
  readonly seals: boolean;
}

/** Newest first. */
export async function listSecrets({ store, clock }: Pick<Ports, "store" | "clock">): Promise<readonly ListedSecret[]> {
  const secrets = await store.checkoutSecrets();
  const sealing = sealingSecret(secrets, clock());
  return secrets.map(({ id, createdAt }) => ({ id, createdAt, seals: id === sealing.id }));
}

export type SecretRotated =
  | { readonly kind: "rotated"; readonly id: number; readonly sealsFrom: Instant }
  /** There is no room for one more: the oldest may still be in use, for a quarter of an hour at most. */
  | { readonly kind: "too_soon" };

/** Seals new checkouts with a new secret; those given out stay good for their five minutes. */
export async function rotateSecret(ports: Ports, actor: Actor): Promise<SecretRotated> {
  const key = ports.random(CHECKOUT_KEY_BYTES);
  const rotated = await ports.store.secrets.rotate(key, attributionOf(ports, actor));
  if (rotated === "too_soon") return { kind: "too_soon" };
  const { id, createdAt } = rotated.added;
  return { kind: "rotated", id, sealsFrom: createdAt + SECRET_REST_MS };
}
