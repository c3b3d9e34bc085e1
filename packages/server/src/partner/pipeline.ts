import { isJsonObject, type JsonObject, JsonSyntaxError, readJson } from "../domain/json.ts";
import { StoreUnavailable } from "../store/errors.ts";
import { authenticate } from "./authenticate.ts";
import type { Answer, Call, Ending } from "./call.ts";
import { type FailureDetail, type FailureReason, renderFailure } from "./failures.ts";
import type { Operation } from "./operations.ts";
import type { Caller, Ports } from "./ports.ts";
import type { RequestObserver } from "./request-observers.ts";

/** Less than the 30 seconds that partners are told to wait at least, with time for the way there and back. */
export const ANSWERED_WITHIN_MS = 25_000;
/** A request must have arrived whole in this time. */
export const REQUEST_TIMEOUT_MS = 10_000;
/** How long an answer may lie unread. */
export const UNREAD_TIMEOUT_MS = 30_000;
/** How long a socket may wait for its next request: longer than common proxies, so that it is they who close. */
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** How often is looked for those who have waited too long. */
export const LOOKING_EVERY_MS = 500;

/** After these, no other request of the socket is taken. Nor is one after 401, so that guessing tokens costs a socket each. */
const LAST: ReadonlySet<FailureReason | undefined> = new Set(["rate_limited", "body_too_large"]);

export interface PipelineOptions {
  readonly ports: Ports;
  readonly nextId: () => string;
  /** Milliseconds that pass evenly, whatever is done to the clock. */
  readonly stopwatch: () => number;
  readonly observers: readonly RequestObserver[];
  /** Whether every socket ends after its answer. */
  readonly isClosing: () => boolean;
  readonly log: (level: "warn" | "error", fields: object, message: string) => void;
}

/** What is done with every call, by whichever door it came: it is admitted, served, answered and observed. */
export class Pipeline {
  readonly nextId: () => string;
  readonly stopwatch: () => number;
  readonly #options: PipelineOptions;
  readonly #inHand = new Set<Call>();
  #decided: Call[] = [];

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.nextId = options.nextId;
    this.stopwatch = options.stopwatch;
  }

  /** Counts a call as in hand until it has ended. */
  take(call: Call): void {
    this.#inHand.add(call);
  }

  /** Admits a call to an operation by its access token (interface, section 5), before anything else of it is read. */
  admit(call: Call, { isTopUp, isQuery }: Operation): void {
    const { ports } = this.#options;
    // As early as can be: what is turned away must cost next to nothing, or nothing is left for those that wait.
    if (isTopUp && ports.store.isOverloaded()) {
      call.isTurnedAway = true;
      this.refuse(call, "unavailable");
      return;
    }
    const { token } = call;
    if (token === undefined) {
      this.refuse(call, "missing_token");
      return;
    }
    authenticate(ports, token, call, isQuery)
      .then((admission) => {
        if (call.answer !== undefined) return;
        if (admission.ok) {
          call.caller = admission.caller;
          call.receive();
        } else {
          call.refusedHolder = admission.holder;
          this.refuse(call, admission.refusal);
        }
      })
      .catch((error: unknown) => this.fail(call, error));
  }

  /** Does what an admitted call asks for. @param text its body; undefined where that is not UTF-8. */
  serve(call: Call, text: string | undefined): void {
    const body = parseObject(text);
    if (body === undefined) {
      this.refuse(call, "malformed_json");
      return;
    }
    call.body = body;
    const { serve } = call.route as Operation;
    serve(call.caller as Caller, body)
      .then((outcome) => {
        if (call.answer !== undefined) return;
        call.isReplay = outcome.ok && outcome.isReplay;
        if (outcome.ok) this.decide(call, outcome.answer);
        else this.refuse(call, outcome.reason, outcome);
      })
      .catch((error: unknown) => this.fail(call, error));
  }

  /** Answers with a page. */
  show(call: Call, page: Promise<Answer>): void {
    page
      .then((answer) => {
        if (call.answer === undefined) this.decide(call, answer);
      })
      .catch((error: unknown) => this.fail(call, error));
  }

  refuse(call: Call, reason: FailureReason, detail?: FailureDetail): void {
    call.outcome = reason;
    this.decide(call, renderFailure(reason, call.id, detail));
  }

  /** Answers a call that something was thrown for, unless its answer is on its way already. */
  fail(call: Call, error: unknown): void {
    if (call.answer !== undefined) return;
    const { id: requestId } = call;
    const isAway = error instanceof StoreUnavailable;
    if (isAway) this.#options.log("warn", { requestId, cause: error.message }, "the store is unavailable");
    else this.#options.log("error", { requestId, err: error }, "a request failed");
    const isTopUp = (call.route as Operation | undefined)?.isTopUp === true;
    this.refuse(call, isAway ? "unavailable" : "internal_error", { isTopUp });
  }

  /**
   * Holds back the answers that are ready in one turn of the event loop, and lets them go together at its end. Written
   * one by one, each would wake its reader by itself, which costs the machine more than the answer did. An answer that is
   * alone leaves with the very turn that made it.
   */
  decide(call: Call, answer: Answer): void {
    call.answer = answer;
    if (this.#decided.push(call) === 1) setImmediate(() => this.#release());
  }

  #release(): void {
    const decided = this.#decided;
    this.#decided = [];
    // Or the socket of an answered request would keep the process from ending.
    const isClosing = this.#options.isClosing();
    for (const call of decided) {
      const answer = call.answer as Answer;
      try {
        call.send(answer, isClosing || answer.status === 401 || LAST.has(call.outcome));
      } catch (err) {
        this.#options.log("error", { requestId: call.id, err }, "an answer could not be written");
        call.abort();
      }
    }
  }

  /** Is told of the end of every call that was taken. */
  ended(call: Call, ending: Ending): void {
    if (!this.#inHand.delete(call)) return;
    // What it comes to is sent to nobody.
    call.answer ??= { status: 0, headers: [], body: "" };
    const ms = this.stopwatch() - call.began;
    for (const each of this.#options.observers) each.ended(call, ending, ms);
  }

  /** Is told of bytes that were answered, and are no request. */
  refusedBare(reason: FailureReason, requestId: string): void {
    for (const each of this.#options.observers) each.refusedBare(reason, requestId);
  }

  /**
   * Sees to it that nobody waits too long for an answer: a store has bounds of its own, but none for a disk that hangs.
   * One look at all, now and then: a timer of each would take time of every request.
   */
  answerLate(): void {
    const now = this.stopwatch();
    for (const call of this.#inHand) {
      // What has not arrived whole waits for its caller, and has a deadline of its own.
      if (now - call.began >= ANSWERED_WITHIN_MS && call.isWhole && call.answer === undefined)
        this.fail(call, new StoreUnavailable(`the store did not answer within ${ANSWERED_WITHIN_MS / 1000} seconds`));
    }
  }
}

/** @returns undefined for what is no JSON object. */
function parseObject(text: string | undefined): JsonObject | undefined {
  try {
    const value = text === undefined ? undefined : readJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

const ID_BYTES = 9;
const IDS_AT_ONCE = 256;

/** Makes ids of 72 random bits, which tell nobody how many requests there are. They are drawn for many requests at once. */
export function requestIds(random: (bytes: number) => Uint8Array): () => string {
  let drawn = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used === drawn.length) {
      drawn = Buffer.from(random(ID_BYTES * IDS_AT_ONCE));
      used = 0;
    }
    used += ID_BYTES;
    return drawn.toString("hex", used - ID_BYTES, used);
  };
}
