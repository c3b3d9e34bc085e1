import { type AccessToken, admitAccessToken, hashAccessToken, isAccessToken } from "../domain/access-token.ts";
import type { Peer } from "../domain/address-list.ts";
import type { Refusal } from "../domain/failure.ts";
import type { Caller, Ports } from "./ports.ts";

/** Who calls; and where the call may not go on, why, and whose token it was if that is known. */
export type Admission =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly refusal: Refusal; readonly holder: Caller | undefined };

/** Of tokens that are on record: their hashes never change. Whether a token may be used is asked each time. */
const HASHES = new Map<string, Buffer>();
const MOST_HASHES = 1_000;

function remember(token: string, hash: Buffer): void {
  if (HASHES.size >= MOST_HASHES) HASHES.clear();
  HASHES.set(token, hash);
}

/**
 * Tells who calls. Asked afresh for every request, so that a revocation holds from the next one on.
 * @param isQuery whether the request is a txn-status.
 */
export async function authenticate(
  { store, clock, tokenUses }: Ports,
  token: string,
  peer: Peer,
  isQuery: boolean,
): Promise<Admission> {
  const known = HASHES.get(token);
  if (known === undefined && !isAccessToken(token)) return { ok: false, refusal: "unknown_token", holder: undefined };
  const hash = known ?? hashAccessToken(token);
  const stored = await store.findAccessToken(hash);
  if (known === undefined && stored !== undefined) remember(token, hash);
  const now = clock();
  const admitted = admitAccessToken(stored, now, peer, isQuery);
  if (!admitted.ok) return { ...admitted, holder: stored && holderOf(stored) };
  tokenUses?.note(admitted.value.id, now);
  return { ok: true, caller: holderOf(admitted.value) };
}

function holderOf({ id, partner, environment }: AccessToken): Caller {
  return { partnerId: partner.id, partnerName: partner.name, environment, tokenId: id };
}
