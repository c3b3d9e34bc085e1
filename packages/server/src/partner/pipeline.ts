import { isJsonObject, type JsonObject, JsonSyntaxError, readJson } from "../domain/json.ts";
import { CALLS, TokenBucket } from "../domain/partner-limits.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { Answer } from "./answer.ts";
import { authenticate } from "./authenticate.ts";
import type { Call, Ending, Sending } from "./call.ts";
import { type FailureDetail, type FailureReason, renderFailure } from "./failures.ts";
import type { Operation } from "./operations.ts";
import type { Caller, Ports } from "./ports.ts";
import type { RequestObserver } from "./request-observers.ts";

/** Partners wait at least 30 seconds; the rest is for the network. */
export const ANSWERED_WITHIN_MS = 25_000;
/** Maximum time until a whole request has arrived. */
export const REQUEST_TIMEOUT_MS = 10_000;
/** Maximum time until an answer has been read. */
export const UNREAD_TIMEOUT_MS = 30_000;
/** Longer than the keep-alive of common proxies, so that the proxy closes the socket. */
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** How often to check for requests that waited too long. */
export const LOOKING_EVERY_MS = 500;

export interface PipelineOptions {
  readonly ports: Ports;
  readonly nextId: () => string;
  /** Monotonic milliseconds. */
  readonly stopwatch: () => number;
  readonly observers: readonly RequestObserver[];
  /** Whether every socket ends after its answer. */
  readonly isClosing: () => boolean;
  readonly log: (level: "warn" | "error", fields: object, message: string) => void;
  /** Age of a late answer to the practice customer, in milliseconds. */
  readonly lateMs: number;
}

/** Admits, serves, answers and observes every call, from either door. */
export class Pipeline {
  readonly nextId: () => string;
  readonly stopwatch: () => number;
  readonly #options: PipelineOptions;
  readonly #inHand = new Set<Call>();
  /** Calls of the practice customer whose answers are held back. */
  readonly #late = new Set<Call>();
  readonly #buckets = { trial: new Map<number, TokenBucket>(), production: new Map<number, TokenBucket>() };
  #decided: Call[] = [];

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.nextId = options.nextId;
    this.stopwatch = options.stopwatch;
  }

  /** A call is open until {@link ended}. */
  take(call: Call): void {
    this.#inHand.add(call);
  }

  /** Checks the access token, before anything else of the call is read. */
  admit(call: Call, { isTopUp, isQuery }: Operation): void {
    const { ports } = this.#options;
    // Refuse as early as possible: under overload a refusal must cost almost nothing.
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
          this.#receiveAtRate(call, admission.caller);
        } else {
          call.refusedHolder = admission.holder;
          this.refuse(call, admission.refusal);
        }
      })
      .catch((error: unknown) => this.fail(call, error));
  }

  #receiveAtRate(call: Call, caller: Caller): void {
    const { limits } = caller;
    const wait = limits === undefined ? 0 : this.#bucketOf(caller).take(this.stopwatch(), limits);
    if (limits === undefined || wait === 0) call.receive();
    else {
      const policy = { name: CALLS, quota: limits.rate, windowMs: 1000 };
      this.refuse(call, "rate_limited", { policy, retryAfterSeconds: Math.ceil(wait / 1000) });
    }
  }

  #bucketOf({ partnerId, environment }: Caller): TokenBucket {
    const buckets = this.#buckets[environment];
    const known = buckets.get(partnerId);
    if (known !== undefined) return known;
    const bucket = new TokenBucket();
    buckets.set(partnerId, bucket);
    return bucket;
  }

  /** Serves an admitted call. @param text its body; undefined if it is not UTF-8. */
  serve(call: Call, text: string | undefined): void {
    const body = parseObject(text);
    if (body === undefined) {
      this.refuse(call, "malformed_json");
      return;
    }
    this.serveFields(call, body);
  }

  /** @param fields of the body, or of the query. */
  serveFields(call: Call, fields: JsonObject): void {
    call.body = fields;
    const { serve } = call.route as Operation;
    serve(call.caller as Caller, fields)
      .then((outcome) => {
        if (call.answer !== undefined) return;
        call.isReplay = outcome.ok && outcome.isReplay;
        if (outcome.ok && outcome.sending !== undefined) this.#sendWrongly(call, outcome.answer, outcome.sending);
        else if (outcome.ok) this.decide(call, outcome.answer);
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
    call.failure = detail;
    this.decide(call, renderFailure(reason, call.id, detail));
  }

  /** Answers a call after an error, unless it is answered already. */
  fail(call: Call, error: unknown): void {
    if (call.answer !== undefined) return;
    const { id: requestId } = call;
    const isUnavailable = error instanceof StoreUnavailable;
    if (isUnavailable) this.#options.log("warn", { requestId, cause: error.message }, "the store is unavailable");
    else this.#options.log("error", { requestId, err: error }, "a request failed");
    const isTopUp = (call.route as Operation | undefined)?.isTopUp === true;
    this.refuse(call, isUnavailable ? "unavailable" : "internal_error", { isTopUp });
  }

  /**
   * Collects the answers of one turn of the event loop and writes them together at its end. Written one by one, each would
   * wake its reader separately, which costs the machine more than the answer itself.
   */
  decide(call: Call, answer: Answer): void {
    call.answer = answer;
    if (this.#decided.push(call) === 1) setImmediate(() => this.#release());
  }

  /** Sends an answer to the practice customer as its fault says. */
  #sendWrongly(call: Call, answer: Answer, sending: Sending): void {
    call.answer = answer;
    if (sending === "nothing") call.abort();
    else if (sending === "half") call.sendHalf(answer);
    else {
      this.#late.add(call);
      setTimeout(() => this.#sendLate(call, answer), this.#options.lateMs);
    }
  }

  #sendLate(call: Call, answer: Answer): void {
    if (this.#late.delete(call) && this.#inHand.has(call)) this.decide(call, answer);
  }

  #release(): void {
    const decided = this.#decided;
    this.#decided = [];
    // An open socket would keep the process from ending.
    const isClosing = this.#options.isClosing();
    for (const call of decided) {
      const answer = call.answer as Answer;
      try {
        call.send(answer, isClosing || endsSocket(call));
      } catch (err) {
        this.#options.log("error", { requestId: call.id, err }, "an answer could not be written");
        call.abort();
      }
    }
  }

  /** Called at the end of every call. */
  ended(call: Call, ending: Ending): void {
    if (!this.#inHand.delete(call)) return;
    // The caller has left: a later result is not sent.
    call.answer ??= { status: 0, headers: [], body: "" };
    const ms = this.stopwatch() - call.began;
    for (const each of this.#options.observers) each.ended(call, ending, ms);
  }

  /** Called for bytes that were answered but are no request. */
  refusedBare(reason: FailureReason, requestId: string): void {
    for (const each of this.#options.observers) each.refusedBare(reason, requestId);
  }

  /**
   * Answers calls that waited too long: a store has time limits, but none for a disk that hangs. A timer for each call
   * would cost time in every request.
   */
  answerLate(): void {
    // A trial partner must not delay a shutdown.
    if (this.#options.isClosing()) for (const call of this.#late) this.#sendLate(call, call.answer as Answer);
    const now = this.stopwatch();
    for (const call of this.#inHand) {
      // An incomplete request waits for its caller and has its own deadline.
      if (now - call.began >= ANSWERED_WITHIN_MS && call.isWhole && call.answer === undefined)
        this.fail(call, new StoreUnavailable(`the store did not answer within ${ANSWERED_WITHIN_MS / 1000} seconds`));
    }
  }
}

/**
 * Whether a failure ends the socket: each guess of a token costs one, and so do too many open requests and a head that is
 * refused. A partner that sends too fast keeps its socket.
 */
export function endsSocket({ answer, outcome, caller }: Call): boolean {
  if (outcome === "rate_limited" || outcome === "malformed_json") return caller === undefined;
  return answer?.status === 401 || outcome === "body_too_large";
}

/** @returns undefined if the text is no JSON object. */
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

/** Makes ids of 72 random bits, which do not reveal the number of requests. Draws many at once, for speed. */
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
