import { admitAccessToken, hashAccessToken, isAccessToken } from "../domain/access-token.ts";
import type { Peer } from "../domain/address-list.ts";
import { done, type Result, refused } from "../domain/failure.ts";
import type { Caller, Ports } from "./ports.ts";

/** Tells who calls. Asked afresh for every request, so that a revocation holds from the next one on. */
export async function authenticate(
  { store, clock, tokenUses }: Ports,
  token: string,
  peer: Peer,
): Promise<Result<Caller>> {
  if (!isAccessToken(token)) return refused("unknown_token");
  const stored = await store.findAccessToken(hashAccessToken(token));
  const now = clock();
  const admitted = admitAccessToken(stored, now, peer);
  if (!admitted.ok) return admitted;
  const { id, partner, environment } = admitted.value;
  tokenUses?.note(id, now);
  return done({ partnerId: partner.id, partnerName: partner.name, environment });
}
