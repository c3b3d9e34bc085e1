import type {
  AccessToken,
  Partner,
  PartnerStatus,
  RefusedRotation,
  Rotation,
  Succession,
} from "../domain/access-token.ts";
import type { AddressList } from "../domain/address-list.ts";
import type { Attribution } from "../domain/audit.ts";
import type { RotationRefusal, Rotation as SecretRotation } from "../domain/checkout-secret.ts";
import type { Instant } from "../domain/wall-time.ts";

/*
 * What staff change. Each change is written in one transaction with its entry in the audit trail; a change that changes
 * nothing leaves no entry. What is set of partners, tokens, secrets and catalogues holds in every process within a second.
 * Every method rejects as those of the store do.
 */

/** Partners and their access tokens. */
export interface Partners {
  add(name: string, by: Attribution): Promise<Partner | "name_taken">;
  setStatus(name: string, status: PartnerStatus, by: Attribution): Promise<Partner | undefined>;
  /** @param addresses undefined for any. */
  setAllowedAddresses(name: string, addresses: AddressList | undefined, by: Attribution): Promise<Partner | undefined>;
  find(name: string): Promise<Partner | undefined>;
  list(): Promise<Partner[]>;

  addToken(token: AccessToken, hash: Uint8Array, by: Attribution): Promise<void>;
  listTokens(): Promise<AccessToken[]>;
  /** Revoking twice keeps the first instant. */
  revokeToken(id: string, by: Attribution): Promise<AccessToken | undefined>;
  /**
   * Issues the token that takes the place of another, and sets that one's end, in one transaction.
   * @param hash of the new token.
   */
  rotateToken(
    id: string,
    to: Succession,
    hash: Uint8Array,
    by: Attribution,
  ): Promise<Rotation | RefusedRotation | undefined>;
  /** Keeps the later of what is on record and what is given. */
  recordUses(uses: TokenUses): Promise<void>;
  /** Of those tokens that were ever used. */
  lastUses(): Promise<TokenUses>;
}

/** When each token was last used, by its id. */
export type TokenUses = ReadonlyMap<string, Instant>;

export interface CheckoutSecrets {
  /** Adds a secret, which takes the place of the oldest where there is no room for more. */
  rotate(key: Uint8Array, by: Attribution): Promise<SecretRotation | RotationRefusal>;
}
