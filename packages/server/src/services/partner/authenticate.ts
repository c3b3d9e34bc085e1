import { type AccessToken, admitAccessToken, hashAccessToken, isAccessToken } from "../../domain/access-token.ts";
import type { Peer } from "../../domain/address-list.ts";
import type { Refusal } from "../../domain/failure.ts";
import type { Caller, Ports } from "../ports.ts";

/** Who calls; and where the call may not go on, why, and whose token it was if that is known. */
export type Admission =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly refusal: Refusal; readonly holder: Caller | undefined };

/** Tells who calls. Asked afresh for every request, so that a revocation holds from the next one on. */
export async function authenticate({ store, clock, tokenUses }: Ports, token: string, peer: Peer): Promise<Admission> {
  if (!isAccessToken(token)) return { ok: false, refusal: "unknown_token", holder: undefined };
  const stored = await store.findAccessToken(hashAccessToken(token));
  const now = clock();
  const admitted = admitAccessToken(stored, now, peer);
  if (!admitted.ok) return { ...admitted, holder: stored && holderOf(stored) };
  tokenUses?.note(admitted.value.id, now);
  return { ok: true, caller: holderOf(admitted.value) };
}

function holderOf({ partner, environment }: AccessToken): Caller {
  return { partnerId: partner.id, partnerName: partner.name, environment };
}
