import { openCheckout } from "../domain/checkout.ts";
import { refused } from "../domain/failure.ts";
import { type Answering, faultOf, PRACTICE_RETRY_SECONDS } from "../domain/practice.ts";
import type { Transaction } from "../domain/transaction.ts";
import type { Outcome } from "./call.ts";
import { type Detailed, NEVER_KEPT } from "./failures.ts";
import type { Caller, Ports } from "./ports.ts";
import { queryTransaction, type TopUpAnswer, type TopUpRequest, type TransactionQuery, topUp } from "./top-ups.ts";

/* The operations of trial callers. The practice customer's top-ups go wrong as the table of faults says. */

/** A result whose answer may go wrong. */
export type Faulty<Value> = Detailed<Value> & { readonly answering?: Answering | undefined };

const PROXY_PAGE = {
  status: 502,
  headers: ["cache-control", NEVER_KEPT, "content-type", "text/html; charset=utf-8"],
  body: "<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n",
};

/**
 * The outcome that replaces the real one; undefined if the real answer is sent, but wrongly.
 * @param isTopUp whether a top-up is answered: its outcome is then uncertain.
 */
export function faultyOutcome(answering: Answering, isTopUp: boolean): Outcome | undefined {
  const retryAfterSeconds = PRACTICE_RETRY_SECONDS;
  switch (answering) {
    case "busy":
      return { ok: false, reason: "unavailable", isTopUp, retryAfterSeconds };
    case "limited":
      return { ok: false, reason: "rate_limited", retryAfterSeconds };
    case "proxy_page":
      return { ok: true, answer: PROXY_PAGE, isReplay: false };
    case "nothing":
      return { ok: true, answer: { status: 0, headers: [], body: "" }, isReplay: false, sending: answering };
    default:
      return undefined;
  }
}

/** Tops up, with the fault of a practice connection. */
export async function practiseTopUp(ports: Ports, caller: Caller, request: TopUpRequest): Promise<Faulty<TopUpAnswer>> {
  const { store, clock } = ports;
  const { checkoutId } = request;
  const fault = faultOf({ environment: caller.environment, ...request });
  if (fault === undefined) return topUp(ports, caller, request);
  if (openCheckout(await store.checkoutSecrets(), caller, checkoutId) === undefined)
    return topUp(ports, caller, request);
  if (fault.refusal === "bouquet_unavailable") return refused(fault.refusal);
  const at = clock();
  const { failing, reversedAfterMs } = fault;
  if (reversedAfterMs !== undefined) await store.practise(checkoutId, at, at + reversedAfterMs);
  if (failing === undefined) return topUp(ports, caller, request);
  const { calls, answering, records } = failing;
  if (records) {
    const result = await topUp(ports, caller, request);
    // Counted after the record: if the process is killed in between, the next request meets the fault.
    return result.ok && (await store.practise(checkoutId, at)) <= calls ? { ...result, answering } : result;
  }
  const isFailing = (await store.practise(checkoutId, at)) <= calls;
  return isFailing ? { ...refused("not_topped_up"), answering } : topUp(ports, caller, request);
}

/** Queries a top-up. If the connection's fault says so, the answer is unavailable for some time. */
export async function practiseQuery(
  ports: Ports,
  caller: Caller,
  query: TransactionQuery,
): Promise<Faulty<Transaction>> {
  const result = await queryTransaction(ports, caller, query);
  if (!result.ok) return result;
  const askFailsMs = faultOf(result.value)?.askFailsMs ?? 0;
  return ports.clock() < result.value.at + askFailsMs ? { ...result, answering: "busy" } : result;
}
