import type { Environment } from "./customer.ts";

/* Limits of a partner, against floods and against reading all customers with one token. Times are from a stopwatch. */

export interface PartnerLimits {
  /** Calls a second in the long run, in each process. */
  readonly rate: number;
  /** Calls at once after a pause. */
  readonly burst: number;
  /** Codes of no customer, an hour. */
  readonly unknownLookUps: number;
  /** Customers whom the partner has never topped up, an hour. */
  readonly newLookUps: number;
}

export const DEFAULT_LIMITS: PartnerLimits = { rate: 50, burst: 500, unknownLookUps: 60, newLookUps: 600 };
/** The highest value of a limit. Look-ups are then not counted. */
export const NO_LIMIT = 1_000_000;

/** Name of the limit of look-ups, in answers and refused calls. */
export const LOOK_UPS = "look-ups";
export const LOOK_UP_WINDOW_MS = 3_600_000;

/** A token bucket, kept as the time at which it is full again. */
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

/** A look-up that counts against a limit of its partner. */
export interface CountedLookUp {
  readonly partnerId: number;
  readonly environment: Environment;
  readonly kind: "unknownLookUps" | "newLookUps";
  /** The unknown code, or the customer's id. */
  readonly key: string;
  readonly limits: Pick<PartnerLimits, "unknownLookUps" | "newLookUps">;
}

/** Times at which keys were counted, oldest first. */
type Counted = Map<string, number>;

/** Counts the look-ups of any 60 minutes. A key counts once. */
export class LookUpLog {
  readonly #partners = new Map<string, Readonly<Record<CountedLookUp["kind"], Counted>>>();

  /** @returns 0 if the look-up may be answered, otherwise the milliseconds to wait. */
  count({ partnerId, environment, kind, key, limits }: CountedLookUp, now: number): number {
    const own = this.#ofPartner(`${partnerId} ${environment}`);
    const [unknown, known] = [forget(own.unknownLookUps, now), forget(own.newLookUps, now)];
    const counted = own[kind];
    if (counted.has(key)) return 0;
    if (counted.size < limits[kind]) {
      counted.set(key, now);
      return 0;
    }
    // The wait must not depend on the code: it would reveal whether a customer has it.
    return Math.max(waitOf(unknown, limits.unknownLookUps, now), waitOf(known, limits.newLookUps, now));
  }

  #ofPartner(name: string) {
    const own = this.#partners.get(name) ?? { unknownLookUps: new Map(), newLookUps: new Map() };
    this.#partners.set(name, own);
    return own;
  }
}

function forget(counted: Counted, now: number): Counted {
  for (const [key, at] of counted) {
    if (at > now - LOOK_UP_WINDOW_MS) break;
    counted.delete(key);
  }
  return counted;
}

function waitOf(counted: Counted, most: number, now: number): number {
  if (counted.size < most) return 0;
  const oldest = counted.values().next().value ?? now;
  return oldest + LOOK_UP_WINDOW_MS - now;
}
