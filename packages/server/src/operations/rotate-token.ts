import { ACCESS_TOKEN_RANDOM_BYTES, formatAccessToken, hashAccessToken } from "../domain/access-token.ts";
import type { RefusedRotation, Rotation, Succession } from "../domain/token-rotation.ts";
import { makeTokenId } from "./issue-token.ts";
import { attributionOf, type StaffPorts } from "./ports.ts";

export interface RotatedToken extends Rotation {
  /** The new one: shown once, and stored nowhere. */
  readonly token: string;
}

/**
 * Issues a new access token for the partner and environment of another, which ends after an overlap.
 * @returns undefined where no token has the id.
 */
export async function rotateToken(
  ports: StaffPorts,
  id: string,
  terms: Omit<Succession, "id">,
): Promise<RotatedToken | RefusedRotation | undefined> {
  const { store, random } = ports;
  const former = (await store.listAccessTokens()).find((token) => token.id === id);
  if (former === undefined) return undefined;
  // What tokens are for never changes; whether this one may still be rotated is decided in the transaction.
  const token = formatAccessToken(former.environment, random(ACCESS_TOKEN_RANDOM_BYTES));
  const succession = { ...terms, id: makeTokenId(random) };
  const rotated = await store.access.rotateToken(id, succession, hashAccessToken(token), attributionOf(ports));
  return rotated?.kind === "rotated" ? { ...rotated, token } : rotated;
}
