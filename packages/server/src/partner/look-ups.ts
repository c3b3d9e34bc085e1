import { type Result, refused } from "../domain/failure.ts";
import { type CountedLookUp, LOOK_UP_WINDOW_MS, NO_LIMIT } from "../domain/partner-limits.ts";
import type { FailureDetail } from "./failures.ts";
import type { Caller, Ports } from "./ports.ts";

/** A result that a limit may replace. */
export type Limited<Value> = Result<Value> & { readonly detail?: FailureDetail };

/** The customer that an answer is about. */
type Asked = { readonly code: string } | { readonly cuid: string };

/** Customers that each process remembers as topped up by a partner. */
const MOST_REMEMBERED = 100_000;

/**
 * Replaces the answer of a partner that looks up too many unknown codes, or too many customers whom it has never topped up:
 * otherwise one token could read all customers.
 */
export function limitLookUps({ store, countLookUp }: Pick<Ports, "store" | "countLookUp">) {
  const toppedUp = new Set<string>();
  const hasToppedUp = async ({ partnerId, environment }: Caller, cuid: string) => {
    const key = `${partnerId} ${environment} ${cuid}`;
    if (toppedUp.has(key)) return true;
    if (!(await store.hasToppedUp(partnerId, environment, cuid))) return false;
    if (toppedUp.size >= MOST_REMEMBERED) toppedUp.clear();
    toppedUp.add(key);
    return true;
  };
  return async <Value>(caller: Caller, asked: Asked, result: Result<Value>): Promise<Limited<Value>> => {
    const { limits, partnerId, environment } = caller;
    if (limits === undefined || countLookUp === undefined) return result;
    const count = async (kind: CountedLookUp["kind"], key: string): Promise<Limited<Value>> => {
      const wait = await countLookUp({ partnerId, environment, kind, key, limits });
      if (wait === 0) return result;
      const policy = {
        name: "look-ups",
        quota: limits.unknownLookUps + limits.newLookUps,
        windowMs: LOOK_UP_WINDOW_MS,
      };
      return { ...refused("rate_limited"), detail: { policy, retryAfterSeconds: Math.ceil(wait / 1000) } };
    };
    const isUnknown = !result.ok && result.refusal === "customer_not_found";
    if (isUnknown && limits.unknownLookUps < NO_LIMIT)
      return count("unknownLookUps", "code" in asked ? asked.code : asked.cuid);
    if (isUnknown || limits.newLookUps >= NO_LIMIT || !("cuid" in asked)) return result;
    if (await hasToppedUp(caller, asked.cuid)) return result;
    return count("newLookUps", asked.cuid);
  };
}
