import { type AccessToken, admitAccessToken, hashAccessToken, isAccessToken } from "../domain/access-token.ts";
import type { Peer } from "../domain/address-list.ts";
import type { Refusal } from "../domain/failure.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { Store } from "../store/store.ts";
import type { Caller, Ports } from "./ports.ts";
import { RegularWriting } from "./regular-writing.ts";

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

/** How often what was gathered is written, in milliseconds. */
const WRITING_EVERY_MS = 30_000;

export interface TokenUsesOptions {
  readonly store: Store;
  /** Hears why the store did not take what was gathered; it is tried again with what comes. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Gathers when each token was last used, and writes it now and then: no request waits for it, and none fails where
 * it cannot be written. What a process had gathered is lost with it where it is killed.
 */
export class TokenUses {
  readonly #options: TokenUsesOptions;
  readonly #writing = new RegularWriting(WRITING_EVERY_MS, () => this.#write());
  #gathered = new Map<string, Instant>();

  constructor(options: TokenUsesOptions) {
    this.#options = options;
  }

  note(tokenId: string, at: Instant): void {
    this.#gathered.set(tokenId, at);
  }

  /** @param sleep resolves early where the signal says so. */
  keepWriting(sleep: (ms: number, signal: AbortSignal) => Promise<void>): void {
    this.#writing.start(sleep);
  }

  /** Writes what is left. */
  close(): Promise<void> {
    return this.#writing.close();
  }

  async #write(): Promise<void> {
    const uses = this.#gathered;
    if (uses.size === 0) return;
    this.#gathered = new Map();
    try {
      await this.#options.store.recordTokenUses(uses);
    } catch (error) {
      // What has come meanwhile is later.
      this.#gathered = new Map([...uses, ...this.#gathered]);
      this.#options.onFailure(error);
    }
  }
}
