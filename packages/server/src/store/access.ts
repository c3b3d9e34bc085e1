import type { Partner } from "../domain/access-token.ts";
import type { AddressList } from "../domain/address-list.ts";
import type { Attribution } from "../domain/audit.ts";
import type { Instant } from "../domain/calendar.ts";
import type { RefusedRotation, Rotation, Succession } from "../domain/token-rotation.ts";

/**
 * From where partners may call, how their tokens follow one another, and when these were last used. What is set
 * holds in every process within a second. Every method rejects as those of the store do.
 */
export interface Access {
  /** @param addresses undefined for any. */
  setAllowedAddresses(name: string, addresses: AddressList | undefined, by: Attribution): Promise<Partner | undefined>;
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
  /** Keeps the later of what is on record and what is given. Tells no process to forget what it knows of tokens. */
  recordUses(uses: TokenUses): Promise<void>;
  /** Of those tokens that were ever used. */
  lastUses(): Promise<TokenUses>;
}

/** When each token was last used, by its id. */
export type TokenUses = ReadonlyMap<string, Instant>;
