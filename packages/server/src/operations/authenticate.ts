import { admitAccessToken, hashAccessToken, isAccessToken } from "../domain/access-token.ts";
import { done, type Result, refused } from "../domain/failure.ts";
import type { Caller, Ports } from "./ports.ts";

/** Tells who calls. Asked afresh for every request, so that a revocation holds from the next one on. */
export async function authenticate({ store, clock }: Ports, token: string): Promise<Result<Caller>> {
  if (!isAccessToken(token)) return refused("unknown_token");
  const admitted = admitAccessToken(await store.findAccessToken(hashAccessToken(token)), clock());
  if (!admitted.ok) return admitted;
  const { partner, environment } = admitted.value;
  return done({ partnerId: partner.id, partnerName: partner.name, environment });
}
