import fc from "fast-check";
import type { Purchase } from "../../src/index.ts";
import { asResponse } from "./scripted.ts";
import type { VirtualClock } from "./virtual-clock.ts";
import { failure, otherFailure, page, type Reply, recorded } from "./wire.ts";

/*
 * A deployment and a network in the same virtual time. The deployment is topupd, or another one that charges for
 * every top-up that reaches it, even with the same checkoutId, and that says no in words of its own.
 */

const VALID_MS = 300_000;
const FINAL_MS = 360_000;

/** What happens to one request. Times are in milliseconds. */
export interface Fate {
  readonly request: "arrives" | "is lost" | "is doubled";
  /** Until the request arrives. The caller may have given up on it by then. */
  readonly delayMs: number;
  /** From the decision until the top-up is on record: topupd has less than 30 s for it. */
  readonly commitMs: number;
  readonly server: "works" | "is overloaded" | "limits" | "is hidden by a gateway" | "says no first";
  readonly answer:
    | "arrives"
    | "is lost"
    | "breaks off"
    | "is cut"
    | "is a proxy's page"
    | "is another top-up's refusal";
}

const often = <Value>(usual: Value, ...others: Value[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...others) });

export const fate: fc.Arbitrary<Fate> = fc.record({
  request: often<Fate["request"]>("arrives", "is lost", "is doubled"),
  delayMs: often(5, 0, 1_000, 29_000, 31_000, 90_000, 400_000),
  commitMs: often(2, 0, 500, 29_900),
  server: often<Fate["server"]>("works", "works", "is overloaded", "limits", "is hidden by a gateway", "says no first"),
  answer: often<Fate["answer"]>(
    "arrives",
    "is lost",
    "breaks off",
    "is cut",
    "is a proxy's page",
    "is another top-up's refusal",
  ),
});

export const NO_HARM: Fate = { request: "arrives", delayMs: 5, commitMs: 2, server: "works", answer: "arrives" };

export interface World {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** What is on record, by the transaction's id: each of these was paid for. */
  readonly charges: { readonly txnId: string; readonly purchase: Purchase }[];
  /** How many top-ups the caller sent, doubled ones once. */
  sends: number;
}

/** @param price what the bouquet of the checkoutId costs; the checkoutId was issued when the clock was at `issuedAt`. */
export function world(
  clock: VirtualClock,
  kind: "topupd" | "foreign",
  fates: readonly Fate[],
  { issuedAt, price }: { readonly issuedAt: number; readonly price: string },
): World {
  const charges: World["charges"] = [];

  const result = (txn: World["charges"][number], headers = {}) => {
    const { cuid, reqId, bouquetId, service } = txn.purchase;
    return recorded({ txnId: txn.txnId, cuid, reqId, bouquetId, service, amt: Number(txn.purchase.amt) }, headers);
  };
  const charge = (purchase: Purchase) => {
    const txn = { txnId: `T${charges.length}`, purchase };
    charges.push(txn);
    return txn;
  };
  const topUp = async (purchase: Purchase, { commitMs }: Fate): Promise<Reply> => {
    const [first] = charges;
    if (first !== undefined && kind === "topupd") return result(first, { "idempotent-replayed": "true" });
    const isExpired = clock.now() - issuedAt > VALID_MS;
    if (isExpired) return kind === "topupd" ? failure("400ab102") : otherFailure(400, "EXPIRED");
    if (purchase.amt !== price) return kind === "topupd" ? failure("400ab106") : otherFailure(200, "AMOUNT");
    await clock.sleep(commitMs);
    const meanwhile = kind === "topupd" ? charges[0] : undefined;
    return meanwhile === undefined ? result(charge(purchase)) : result(meanwhile, { "idempotent-replayed": "true" });
  };
  const query = (): Reply => {
    const [first] = charges;
    if (first !== undefined) return result(first);
    if (kind === "foreign") return otherFailure(200, "NOT_FOUND");
    return failure(clock.now() - issuedAt > FINAL_MS ? "400ab108" : "400ab107");
  };

  let requests = 0;
  const made: World = {
    charges,
    sends: 0,
    async fetch(url, { body }) {
      const how = fates[requests] ?? NO_HARM;
      requests += 1;
      const isTopUp = url.endsWith("/subscription-package-topup");
      if (isTopUp) made.sends += 1;
      const serve = async () => (isTopUp ? topUp(JSON.parse(body as string) as Purchase, how) : query());
      await clock.sleep(how.delayMs);
      if (how.request === "is lost") return new Promise(() => {});
      if (how.server === "limits") return asResponse(failure("400ac006", {}, { "retry-after": "2" }));
      if (how.request === "is doubled") void clock.sleep(how.delayMs * 2).then(serve);
      // An overloaded deployment may have taken the request in all the same.
      if (how.server === "is overloaded") {
        void clock.sleep(how.commitMs).then(serve);
        return asResponse(kind === "topupd" ? failure("400ae002") : page(503));
      }
      // A gateway that asks too much, or forbids, after it has passed the request on; a deployment that is not done yet.
      if (how.server === "is hidden by a gateway") {
        // At once: what it kept back for as long as a commit may take, and passed on then, no client could know of.
        void serve();
        return asResponse(page(requests % 2 === 0 ? 429 : 403));
      }
      if (how.server === "says no first" && kind === "foreign" && isTopUp) {
        // It decides now, and what it has decided is on record within the time of a commit.
        void serve();
        return asResponse(otherFailure(requests % 2 === 0 ? 200 : 422, "PENDING"));
      }
      return deliver(await serve(), how);
    },
  };
  return made;
}

function deliver(answer: Reply, { answer: how }: Fate): Promise<Response> {
  switch (how) {
    case "arrives":
      return Promise.resolve(asResponse(answer));
    case "is lost":
      return new Promise(() => {});
    case "breaks off":
      return Promise.reject(new TypeError("terminated"));
    case "is cut":
      return Promise.resolve(asResponse({ ...answer, text: answer.text.slice(0, answer.text.length >> 1) }));
    case "is a proxy's page":
      return Promise.resolve(asResponse(page(502)));
    // It came late, and the proxy gave it to whoever asked next.
    case "is another top-up's refusal":
      return Promise.resolve(asResponse(failure("400aa105")));
  }
}
