import type { Attribution } from "../domain/audit.ts";
import type { RotationRefusal, Rotation as SecretRotation } from "../domain/checkout-secret.ts";

/*
 * What staff change. Each change is written in one transaction with its entry in the audit trail; a change that changes
 * nothing leaves no entry. What is set of partners, tokens, secrets and catalogues holds in every process within a second.
 * Every method rejects as those of the store do.
 */

export interface CheckoutSecrets {
  /** Adds a secret, which takes the place of the oldest where there is no room for more. */
  rotate(key: Uint8Array, by: Attribution): Promise<SecretRotation | RotationRefusal>;
}
