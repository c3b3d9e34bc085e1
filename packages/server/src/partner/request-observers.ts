import { looksIssued } from "../domain/checkout.ts";
import { JsonNumber } from "../domain/json.ts";
import { CALLS } from "../domain/partner-limits.ts";
import { TOP_UP_OPERATION, type TrialCall } from "../domain/practice.ts";
import { type Instant, isoTime } from "../domain/wall-time.ts";
import type { RefusedCall } from "../store/store.ts";
import { logUnauthenticated } from "../system/log.ts";
import type { Answer } from "./answer.ts";
import type { Call, Ending } from "./call.ts";
import { FAILURES, type FailureReason } from "./failures.ts";
import type { CallNotes } from "./gathering.ts";
import { type Caller, type Observer, tell } from "./ports.ts";

/** Observes how calls end. */
export interface RequestObserver {
  /** Called once at the end of each call. @param ms since its arrival. */
  readonly ended: (call: Call, ending: Ending, ms: number) => void;
  /** Called for bytes that were answered but are no request. */
  readonly refusedBare: (reason: FailureReason, requestId: string) => void;
}

/** Failures of the service: always logged, even for unknown callers. */
const OURS: ReadonlySet<string | undefined> = new Set(["internal_error", "unavailable"]);

/**
 * Writes one log line for each request to an operation. Requests without a valid token, or refused unread under overload,
 * are summed up (see {@link logUnauthenticated}). Health checks and pages are logged only if they fail.
 *
 * The fields are an allow-list: no header, no unknown path, and of the body only a well-formed checkoutId, so that no token,
 * name or mobile number reaches the log. The line has the logger's format, but is built here, which is much faster.
 * @param write takes one line with its line end.
 */
export function logRequests(clock: () => Instant, write: (line: string) => void): RequestObserver {
  let time = "";
  let timeAt = Number.NaN;
  const lineOf = (requestId: string, what: string) => {
    const now = clock();
    if (now !== timeAt) {
      // Formatting the time is slow, and many lines share a millisecond.
      timeAt = now;
      time = isoTime(now);
    }
    return `{"level":"info","time":"${time}","requestId":"${requestId}",${what},"msg":"request"}\n`;
  };
  const unauthenticated = logUnauthenticated(clock, write);
  return {
    ended: (call, ending, ms) => {
      const { caller, outcome, isTurnedAway, route } = call;
      const line = () => lineOf(call.id, membersOf(call, ending, ms));
      const isFailure = OURS.has(outcome) && !isTurnedAway;
      if (caller !== undefined || isFailure) write(line());
      else if (route === undefined || route.operation !== undefined)
        unauthenticated(line, ending === "gave_up" ? ending : (outcome ?? "success"));
    },
    refusedBare: (reason, requestId) =>
      unauthenticated(() => lineOf(requestId, `"status":${FAILURES[reason].status},"outcome":"${reason}"`), reason),
  };
}

/** Only the partner's name needs escaping. */
function membersOf(call: Call, ending: Ending, ms: number): string {
  const { caller, refusedHolder, outcome, body, route, answer } = call;
  const where = route === undefined ? "" : `"route":"${route.url}",`;
  const status = ending === "gave_up" ? "" : `"status":${answer?.status}`;
  const became = ending === "gave_up" ? `"outcome":"gave_up"` : outcome === undefined ? "" : `,"outcome":"${outcome}"`;
  const holder = caller ?? refusedHolder;
  const who = holder === undefined ? "" : `,"partner":${holder.partnerId},"environment":"${holder.environment}"`;
  const isTopUp = caller !== undefined && route?.operation?.name === TOP_UP_OPERATION;
  const what = isTopUp ? topUpMembers(caller, body) : "";
  return `${where}${status}${became}${who}${what},"ms":${Math.round(ms * 1000) / 1000}`;
}

/** The partner and the checkoutId, needed when a top-up is in doubt. */
function topUpMembers({ partnerName }: Caller, body: unknown): string {
  const checkoutId = (body as { checkoutId?: unknown } | null | undefined)?.checkoutId;
  const which = looksIssued(checkoutId) ? `,"checkoutId":"${checkoutId}"` : "";
  return `,"partnerName":${JSON.stringify(partnerName)}${which}`;
}

/** Observes every request to an operation, and every other failed request. Pages are not counted, only their failures. */
export function observeRequests(observer: Observer): RequestObserver {
  return {
    ended: ({ caller, outcome, route, isReplay }, ending, ms) => {
      const operation = route?.operation;
      const became = ending === "gave_up" ? ending : outcome;
      if (operation === undefined && became === undefined) return;
      const success = isReplay ? "replayed" : "success";
      tell(() => observer.requestAnswered(operation, caller, became ?? success, ms / 1000));
    },
    refusedBare: (reason) => tell(() => observer.requestAnswered(undefined, undefined, reason, 0)),
  };
}

/** Stores every refused call of a known partner, so that staff can search when a customer complains. */
export function noteRefusedCalls(
  clock: () => Instant,
  refusedCalls: Pick<CallNotes<RefusedCall>, "note">,
): RequestObserver {
  return {
    ended: ({ id: requestId, outcome: reason, failure, caller, refusedHolder, body, route }) => {
      if (reason === undefined) return;
      const holder = caller ?? refusedHolder;
      const operation = route?.operation?.name;
      if (holder === undefined || operation === undefined) return;
      const { partnerId, environment } = holder;
      const detail = failure?.limit ?? failure?.policy?.name;
      refusedCalls.note({
        at: clock(),
        partnerId,
        environment,
        operation,
        reason,
        detail,
        code: codeIn(body),
        requestId,
      });
    },
    refusedBare: () => {},
  };
}

/** Stores every call of the trial environment, for the practice report. */
export function noteTrialCalls(clock: () => Instant, trialCalls: Pick<CallNotes<TrialCall>, "note">): RequestObserver {
  return {
    ended: (call, ending, ms) => {
      const { id: requestId, caller, body, route, answer, failure } = call;
      if (caller?.environment !== "trial" || route?.operation === undefined) return;
      // Otherwise a partner that calls too fast would push out the practice of others.
      if (failure?.policy?.name === CALLS) return;
      const gaveUp = ending === "gave_up";
      const { cuid, service, reqId, checkoutId, bouquetId, amt } = (body ?? {}) as Readonly<Record<string, unknown>>;
      trialCalls.note({
        at: Math.round(clock() - ms),
        ms: Math.round(ms),
        partnerId: caller.partnerId,
        version: route.operation.version,
        operation: route.operation.name,
        cuid: textOf(cuid),
        service: textOf(service),
        reqId: textOf(reqId),
        checkoutId: textOf(checkoutId),
        bouquetId: textOf(bouquetId),
        amount: textOf(amt),
        outcome: gaveUp ? "no_answer" : sentOutcome(call),
        retryAfter: gaveUp ? undefined : retryAfterOf(answer),
        requestId,
      });
    },
    refusedBare: () => {},
  };
}

function sentOutcome({ answer, outcome, isReplay }: Call): TrialCall["outcome"] {
  if (answer?.status === 502) return "proxy_error";
  return outcome ?? (isReplay ? "replayed" : "success");
}

function retryAfterOf(answer: Answer | undefined): number | undefined {
  const { headers = [] } = answer ?? {};
  const name = headers.indexOf("retry-after");
  return name === -1 ? undefined : Number(headers[name + 1]);
}

/** Searchable codes: short, and without control characters that a database would refuse. */
const CODE = /^\P{Cc}{1,64}$/u;

function codeIn(body: unknown): string | undefined {
  const { cuid, code } = (body ?? {}) as { readonly cuid?: unknown; readonly code?: unknown };
  return textOf(cuid) ?? textOf(code);
}

function textOf(value: unknown): string | undefined {
  const text = value instanceof JsonNumber ? value.literal : value;
  return typeof text === "string" && CODE.test(text) ? text : undefined;
}
