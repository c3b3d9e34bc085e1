import { createHmac } from "node:crypto";
import type { Environment } from "./customer.ts";
import type { Instant } from "./wall-time.ts";

/* Limits of a partner in each environment, against floods and against reading all customers with one token. */

export interface PartnerLimits {
  /** Calls a second in the long run, in each process. */
  readonly rate: number;
  /** Calls at once after a pause. */
  readonly burst: number;
  /** Strangers an hour: customers whom the partner has never topped up, and codes of no or of several customers. */
  readonly newLookUps: number;
}

export const DEFAULT_LIMITS: PartnerLimits = { rate: 50, burst: 500, newLookUps: 600 };
/** The highest value of a limit. Look-ups are then not counted. */
export const NO_LIMIT = 1_000_000;

/** Name of the limit of look-ups, in answers and refused calls. */
export const LOOK_UPS = "look-ups";
/** Name of the limit of calls a second. */
export const CALLS = "calls";
export const LOOK_UP_WINDOW_MS = 3_600_000;

/** A token bucket, kept as the time at which it is full again, by a stopwatch. */
export class TokenBucket {
  #fullAt = Number.NEGATIVE_INFINITY;

  /** @returns 0 if a token was taken, otherwise the milliseconds until the next one. */
  take(now: number, { rate, burst }: Pick<PartnerLimits, "rate" | "burst">): number {
    const intervalMs = 1000 / rate;
    const fullAt = Math.max(this.#fullAt, now) + intervalMs;
    const wait = fullAt - now - burst * intervalMs;
    // Sums of fractions are not exact.
    if (wait > 1e-6) return wait;
    this.#fullAt = fullAt;
    return 0;
  }
}

/** A look-up of a stranger. */
export interface CountedLookUp {
  readonly partnerId: number;
  readonly environment: Environment;
  /** The customer's id; the code if it fits no customer or several. */
  readonly key: string;
  /** Strangers an hour. */
  readonly limit: number;
  /** A person at the counter, who may use half of the partner's limit. */
  readonly seller?: string | undefined;
}

/** A counted look-up as all services share it. Its hash hides the code. */
export interface LookUpCount {
  readonly partnerId: number;
  readonly environment: Environment;
  readonly hash: string;
  readonly at: Instant;
}

/** @param key secret, and the same for all services. */
export function hashLookUp({ partnerId, environment, key: code }: CountedLookUp, key: Uint8Array): string {
  return createHmac("sha256", key).update(`look-up ${partnerId} ${environment} ${code}`).digest("base64url");
}

/** Counts the look-ups of any 60 minutes. A hash counts once. */
export class LookUpLog {
  /** Counts of this service that were not shared yet. */
  readonly unshared: LookUpCount[] = [];
  /** Times at which hashes were counted, oldest first. */
  readonly #partners = new Map<string, Map<string, Instant>>();

  /** @returns 0 if the look-up may be answered, otherwise the milliseconds to wait: the same for all strangers. */
  count({ partnerId, environment, limit, seller }: CountedLookUp, hash: string, now: Instant): number {
    const counted = this.#countedOf({ partnerId, environment }, now);
    if (counted.has(hash)) return 0;
    const own = seller === undefined ? undefined : this.#countedOf({ partnerId, environment, seller }, now);
    const full = counted.size >= limit ? counted : own !== undefined && own.size >= limit / 2 ? own : undefined;
    if (full !== undefined) {
      const [oldest = now] = full.values();
      return oldest + LOOK_UP_WINDOW_MS - now;
    }
    counted.set(hash, now);
    own?.set(hash, now);
    this.unshared.push({ partnerId, environment, hash, at: now });
    return 0;
  }

  /** Adds counts that services shared. @param counts oldest first. */
  add(counts: readonly LookUpCount[], now: Instant): void {
    for (const { hash, at, ...of } of counts) {
      const counted = this.#countedOf(of, now);
      if (!counted.has(hash)) counted.set(hash, at);
    }
  }

  #countedOf(
    { partnerId, environment, seller }: Pick<CountedLookUp, "partnerId" | "environment" | "seller">,
    now: Instant,
  ) {
    const name = `${partnerId} ${environment} ${seller ?? ""}`;
    const counted = this.#partners.get(name) ?? new Map<string, Instant>();
    this.#partners.set(name, counted);
    for (const [hash, at] of counted) {
      // A clock that was wrong by more than the window must not hold counts for longer.
      if (Math.abs(now - at) < LOOK_UP_WINDOW_MS) break;
      counted.delete(hash);
    }
    return counted;
  }
}
