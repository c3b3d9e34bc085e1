import { type Result, refused } from "../domain/failure.ts";
import { type CountedLookUp, LOOK_UP_WINDOW_MS, LOOK_UPS, NO_LIMIT } from "../domain/partner-limits.ts";
import type { Detailed } from "./failures.ts";
import type { Caller, Ports } from "./ports.ts";

/** The customer that an answer is about. */
type Asked = { readonly code: string } | { readonly cuid: string };

function keyOf({ partnerId, environment }: Caller, cuid: string): string {
  return `${partnerId} ${environment} ${cuid}`;
}

/** Customers that each process remembers as topped up by a partner. */
const MOST_REMEMBERED = 100_000;

/**
 * Replaces the answer of a partner that looks up too many unknown codes, or too many customers whom it has never topped up:
 * otherwise one token could read all customers.
 */
export function limitLookUps({ store, countLookUp }: Pick<Ports, "store" | "countLookUp">) {
  const toppedUp = new Set<string>();
  const hasToppedUp = async (caller: Caller, cuid: string) => {
    if (!(await store.hasToppedUp(caller.partnerId, caller.environment, cuid))) return false;
    if (toppedUp.size >= MOST_REMEMBERED) toppedUp.clear();
    toppedUp.add(keyOf(caller, cuid));
    return true;
  };
  /** A result at once, unless the store or another process is asked. */
  return <Value>(caller: Caller, asked: Asked, result: Result<Value>): Detailed<Value> | Promise<Detailed<Value>> => {
    const { limits, partnerId, environment } = caller;
    if (limits === undefined || countLookUp === undefined) return result;
    const count = async (kind: CountedLookUp["kind"], key: string): Promise<Detailed<Value>> => {
      const wait = await countLookUp({ partnerId, environment, kind, key, limits });
      if (wait === 0) return result;
      const policy = {
        name: LOOK_UPS,
        quota: limits.unknownLookUps + limits.newLookUps,
        windowMs: LOOK_UP_WINDOW_MS,
      };
      return { ...refused("rate_limited"), detail: { policy, retryAfterSeconds: Math.ceil(wait / 1000) } };
    };
    const isUnknown = !result.ok && result.refusal === "customer_not_found";
    if (isUnknown && limits.unknownLookUps < NO_LIMIT)
      return count("unknownLookUps", "code" in asked ? asked.code : asked.cuid);
    if (isUnknown || limits.newLookUps >= NO_LIMIT || !("cuid" in asked)) return result;
    const { cuid } = asked;
    if (toppedUp.has(keyOf(caller, cuid))) return result;
    return hasToppedUp(caller, cuid).then((isKnown) => (isKnown ? result : count("newLookUps", cuid)));
  };
}
