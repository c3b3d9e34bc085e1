import { type AccessToken, admitAccessToken, hashSecret, isAccessToken } from "../domain/access-token.ts";
import type { Peer } from "../domain/address-list.ts";
import type { Refusal } from "../domain/failure.ts";
import type { Caller, Ports } from "./ports.ts";

/** The caller; or the refusal, and the token's holder if known. */
type Admission =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly refusal: Refusal; readonly holder: Caller | undefined };

/** Hashes of stored tokens, which never change. Validity is checked for every request. */
const HASHES = new Map<string, Buffer>();
const MOST_HASHES = 1_000;

function remember(token: string, hash: Buffer): void {
  if (HASHES.size >= MOST_HASHES) HASHES.clear();
  HASHES.set(token, hash);
}

/** Reads the token from the store for every request, so that a revocation applies to the next one. */
export async function authenticate(
  { store, clock, tokenUses }: Ports,
  token: string,
  peer: Peer,
  isQuery: boolean,
): Promise<Admission> {
  const known = HASHES.get(token);
  if (known === undefined && !isAccessToken(token)) return { ok: false, refusal: "unknown_token", holder: undefined };
  const hash = known ?? hashSecret(token);
  const stored = await store.findAccessToken(hash);
  if (known === undefined && stored !== undefined) remember(token, hash);
  const now = clock();
  const admitted = admitAccessToken(stored, now, peer, isQuery);
  if (!admitted.ok) return { ...admitted, holder: stored && holderOf(stored) };
  tokenUses?.note(admitted.value.id, now);
  return { ok: true, caller: holderOf(admitted.value) };
}

/** The caller of a token. */
export function holderOf({ id, partner, environment }: AccessToken): Caller {
  return {
    partnerId: partner.id,
    partnerName: partner.name,
    environment,
    tokenId: id,
    limits: partner.limits,
    terms: partner.terms,
  };
}
