import { refused } from "../domain/failure.ts";
import { LOOK_UP_WINDOW_MS, LOOK_UPS, NO_LIMIT } from "../domain/partner-limits.ts";
import type { Detailed } from "./failures.ts";
import type { Caller, Ports } from "./ports.ts";

/** Customers that each process remembers as topped up by a partner. */
const MOST_REMEMBERED = 100_000;

/**
 * Limits a partner's look-ups of strangers: otherwise one token could read all customers. A look-up of a customer whom the
 * partner has topped up is free.
 */
export function limitLookUps({ store, countLookUp }: Pick<Ports, "store" | "countLookUp">) {
  const toppedUp = new Set<string>();
  /**
   * @param key the customer's id; the code if it fits no customer or several. The same is asked for each, so that neither
   *   answer nor time reveals whether a customer exists.
   * @returns undefined if the look-up may be answered.
   */
  return async (caller: Caller, key: string): Promise<Detailed<never> | undefined> => {
    const { partnerId, environment, limits, seller } = caller;
    if (limits === undefined || countLookUp === undefined || limits.newLookUps >= NO_LIMIT) return undefined;
    const name = `${partnerId} ${environment} ${key}`;
    if (toppedUp.has(name)) return undefined;
    if (await store.hasToppedUp(partnerId, environment, key)) {
      if (toppedUp.size >= MOST_REMEMBERED) toppedUp.clear();
      toppedUp.add(name);
      return undefined;
    }
    const wait = await countLookUp({ partnerId, environment, key, limit: limits.newLookUps, seller });
    if (wait === 0) return undefined;
    const policy = { name: LOOK_UPS, quota: limits.newLookUps, windowMs: LOOK_UP_WINDOW_MS };
    return { ...refused("rate_limited"), detail: { policy, retryAfterSeconds: Math.ceil(wait / 1000) } };
  };
}
