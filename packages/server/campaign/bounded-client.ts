import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, PartnerClient } from "./partner-client.ts";

/** For how long docs/interface.md tells partners to wait for the answer to a top-up. */
const ANSWER_WITHIN_MS = 30_000;

/** An answer that says to come again, or to ask what became of it. */
export class Unavailable extends Error {}

/** What was seen of all answers together. */
export interface Patience {
  longestMs: number;
}

/** A partner who holds the service to what it promises of every answer, also where it can do nothing else. */
export class BoundedClient extends PartnerClient {
  readonly #patience: Patience;

  constructor(url: string, token: string, patience: Patience) {
    super(url, token);
    this.#patience = patience;
  }

  /** @throws Unavailable where it is told so. */
  override async call(operation: string, request: object): Promise<Answer> {
    const begun = performance.now();
    const what = `${operation} ${JSON.stringify(request)}`;
    const answer = await withinBound(what, super.call(operation, request)).catch((error: unknown) => {
      // fetch says so with a TypeError when a connection is refused or breaks, and JSON with a SyntaxError.
      throw new Error(`${what} got no answer: ${String(error)}`, { cause: error });
    });
    this.#patience.longestMs = Math.max(this.#patience.longestMs, performance.now() - begun);
    const { success, body } = JSON.parse(answer.text) as { success: unknown; body: Record<string, unknown> };
    const isWhole = success === (answer.status === 200) && (success === true || typeof body["requestId"] === "string");
    if (!isWhole || (answer.status >= 500 && answer.code !== "400ae002"))
      throw new Error(`${what} was answered with ${answer.status}: ${answer.text}`);
    if (answer.code === "400ae002") throw new Unavailable(answer.text);
    return answer;
  }
}

/** @throws Error where it takes longer than a partner waits. */
export async function withinBound<Value>(what: string, work: Promise<Value>): Promise<Value> {
  const timer = new AbortController();
  const late = sleep(ANSWER_WITHIN_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what} took more than ${ANSWER_WITHIN_MS} ms`);
  });
  return Promise.race([work, late]).finally(() => {
    late.catch(() => {});
    timer.abort();
  });
}
