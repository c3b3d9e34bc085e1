import type { ConnectionKey } from "./customer.ts";
import type { ConnectionEvent, Recorded } from "./event.ts";
import type { Ledger } from "./ledger.ts";
import { CONFIRMED_WITHIN_MS, type DueUser } from "./sessions.ts";
import { LATE_MS, type Target, takesConnection } from "./target.ts";
import { type Instant, instantOf, type WallTime, type Zone } from "./wall-time.ts";

/*
 * The way of a connection's last change to each target: sent, accepted, confirmed. A step that failed or is late means that
 * the customer may lack the service; a missing session means nothing.
 */

/** The last event of a connection that was sent to a target. */
export interface ServiceStep {
  readonly key: ConnectionKey;
  readonly seq: number;
  readonly kind: ConnectionEvent["kind"];
  /** Time of the event. */
  readonly at: Instant;
  /** Start of the first attempt; undefined, as is `acceptedAt`, if only the confirmation is on record yet. */
  readonly sentAt: Instant | undefined;
  readonly acceptedAt: Instant | undefined;
  /** Time of the receiver's confirmation. */
  readonly endedAt: Instant | undefined;
  /** `done`: confirmed, or accepted by a receiver that promised no confirmation. */
  readonly outcome: "open" | "done" | "failed";
  /** Detail of the confirmation; why the last attempt failed, while it is open. */
  readonly detail: string | undefined;
}

/** The last end of a user's sessions, which confirms a change at RADIUS. */
export type SessionEnd = Pick<DueUser, "seq" | "state" | "dueAt" | "endedAt" | "problem">;

/** Whether a receiver's whole answer promises a confirmation: `{"state":"pending"}`. */
export function promisesConfirmation(answer: string): boolean {
  try {
    return (JSON.parse(answer) as { readonly state?: unknown } | null)?.state === "pending";
  } catch {
    return false;
  }
}

interface EndedAttempt {
  readonly sentAt: Instant;
  readonly endedAt: Instant;
  /** Whether the answer promises a confirmation. */
  readonly isPending: boolean;
  /** Why the attempt failed; undefined if it did not. */
  readonly problem: string | undefined;
}

/** The step after an attempt to send an event. */
export function stepAfter(
  { key, seq, kind, at }: Recorded<ConnectionEvent>,
  { sentAt, endedAt, isPending, problem }: EndedAttempt,
): ServiceStep {
  const isOpen = problem !== undefined || isPending;
  const acceptedAt = problem === undefined ? endedAt : undefined;
  const outcome = isOpen ? ("open" as const) : ("done" as const);
  return { key, seq, kind, at, sentAt, acceptedAt, endedAt: undefined, outcome, detail: problem };
}

/** A change of a connection. */
export type LastChange = Pick<ServiceStep, "kind" | "at">;

const KINDS = { top_up: "topup.recorded", reversal: "topup.reversed" } as const;

/**
 * The last change of a connection, also if no target was sent it yet. An end and an unblocking are known only once they were
 * sent. @param zone of the provider. @returns undefined if nothing ever changed.
 */
export function lastChange(
  ledgers: readonly Ledger[],
  blockedAt: Instant | undefined,
  steps: readonly ServiceStep[],
  zone: Zone,
  now: Instant,
): LastChange | undefined {
  const changes: LastChange[] = ledgers.flatMap(({ entries }) => {
    const last = entries.at(-1);
    if (last === undefined) return [];
    const kind = last.kind === "top_up" || last.kind === "reversal" ? KINDS[last.kind] : "subscription.changed";
    const begunAt = last.after && laterStart(last.after.start, last.at.wall, zone);
    const isBegun = begunAt !== undefined && begunAt <= now;
    return isBegun ? [{ kind: "subscription.changed", at: begunAt }] : [{ kind, at: last.at.instant }];
  });
  if (blockedAt !== undefined) changes.push({ kind: "connection.blocked", at: blockedAt });
  changes.push(...steps.filter(({ kind }) => kind === "subscription.ended" || kind === "connection.unblocked"));
  return changes.reduce<LastChange | undefined>(
    (last, each) => (last === undefined || each.at > last.at ? each : last),
    undefined,
  );
}

/** The instant of a start that was still to come at an entry; undefined if it was not. */
function laterStart(start: WallTime, entered: WallTime, zone: Zone): Instant | undefined {
  return start > entered ? instantOf(start, zone) : undefined;
}

export const STEP_STATES = [
  ...(["not_sent", "paused", "failing", "accepted", "waits"] as const),
  ...(["confirmed", "next_log_in", "failed"] as const),
] as const;

/** How far a change is at a target. */
export interface StepView extends Pick<ServiceStep, "sentAt" | "acceptedAt" | "endedAt" | "detail"> {
  /** Name of the target. */
  readonly target: string;
  readonly state: (typeof STEP_STATES)[number];
  /** Whether it has not come further for five minutes, or a minute after sessions of RADIUS had to end. */
  readonly isLate: boolean;
}

export interface StepFacts {
  readonly target: Target;
  /** Undefined if no event of the connection was sent yet; always for feeds. */
  readonly step: ServiceStep | undefined;
  /** The last change of the connection. */
  readonly changed: LastChange | undefined;
  /** Time of the first event that a feed has not read; undefined if it has read all. */
  readonly unreadAt: Instant | undefined;
  /** Undefined if the target ends no sessions, or none had to end yet. */
  readonly session: SessionEnd | undefined;
}

/** @returns undefined if the target was added after the change, or does not take the connection. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: its returns are states in the order of their rank
export function stepView(
  key: Pick<ConnectionKey, "environment" | "service">,
  { target, step, changed, unreadAt, session }: StepFacts,
  now: Instant,
): StepView | undefined {
  const none = { sentAt: undefined, acceptedAt: undefined, endedAt: undefined, detail: undefined };
  const of = (at: Instant, state: StepView["state"], more: Partial<StepView> = {}): StepView => {
    // The reader of a feed may come once a night.
    const isDue = (state === "not_sent" && target.config.kind !== "feed") || state === "failing" || state === "waits";
    return { target: target.name, ...none, ...more, state, isLate: isDue && now - at > LATE_MS };
  };
  if (!takesConnection(target, key)) return undefined;
  if (changed !== undefined && changed.at >= target.createdAt && changed.at > (step?.at ?? -1)) {
    const isRead = target.config.kind === "feed" && (unreadAt === undefined || changed.at < unreadAt);
    return of(changed.at, isRead ? "accepted" : target.paused ? "paused" : "not_sent");
  }
  if (step === undefined) return undefined;
  const { at, sentAt, acceptedAt, endedAt, detail, outcome } = step;
  const times = { sentAt, acceptedAt, endedAt, detail };
  if (outcome === "failed") return of(at, "failed", times);
  if (outcome === "open" && detail === undefined) return of(at, "waits", times);
  if (outcome === "open") return of(at, target.paused ? "paused" : "failing", times);
  if (endedAt !== undefined) return of(at, "confirmed", times);
  return session === undefined ? of(at, "accepted", times) : atSessions(of(at, "accepted", times), step, session, now);
}

/** Sessions that still have to end count for later events too; ended ones count for their own event. */
function atSessions(accepted: StepView, { seq }: ServiceStep, session: SessionEnd, now: Instant): StepView {
  const { state, dueAt, endedAt, problem: detail } = session;
  if (state === "failed") return { ...accepted, state: "failed", endedAt, detail };
  if (state === "due") return { ...accepted, state: "waits", isLate: now - dueAt > CONFIRMED_WITHIN_MS, detail };
  if (session.seq !== seq || state === "unknown") return accepted;
  return state === "ended" ? { ...accepted, state: "confirmed", endedAt } : { ...accepted, state: "next_log_in" };
}

/** Whether the customer may lack what was paid. */
export function isOff({ state, isLate }: StepView): boolean {
  return state === "failed" || isLate;
}

const CHANGES: Readonly<Record<ConnectionEvent["kind"], string>> = {
  "topup.recorded": "paid",
  "topup.reversed": "reversed",
  "subscription.changed": "changed",
  "subscription.ended": "ended",
  "connection.blocked": "blocked",
  "connection.unblocked": "unblocked",
  test: "tested",
};

/**
 * One line: `paid 2026-11-23 12:00:02 · tv accepted 12:00:03 · 'box 4711 authorised' 12:00:09`.
 * @param from when service begins, if it is still to.
 */
export function chainText(
  { kind, at }: LastChange,
  steps: readonly StepView[],
  zone: Zone,
  from: WallTime | undefined,
): string {
  const begun = zone.wallTime(at);
  const time = (of: Instant | undefined) => {
    if (of === undefined) return "";
    const wall = zone.wallTime(of);
    return ` ${wall.slice(0, 10) === begun.slice(0, 10) ? wall.slice(11) : wall}`;
  };
  const words = steps.map(({ target, state, isLate, sentAt, acceptedAt, endedAt, detail }) => {
    const why = detail === undefined ? "" : `: ${detail}`;
    const accepted = `${target} accepted${time(acceptedAt)}`;
    const after = (text: string) => `${accepted} · ${text}`;
    const said: Readonly<Record<StepView["state"], string>> = {
      not_sent: `${target} not sent yet`,
      paused: `${target} is paused`,
      failing: `${target} sent${time(sentAt)}, failing${why}`,
      accepted,
      waits: after(`waits for its confirmation${why}`),
      confirmed: after(`${detail === undefined ? "confirmed" : `'${detail}'`}${time(endedAt)}`),
      next_log_in: from === undefined ? after("works at the next log-in") : accepted,
      failed: after(`failed${time(endedAt)}${why}`),
    };
    return `${said[state]}${isLate ? ", late" : ""}`;
  });
  const later = from === undefined ? [] : [`from ${from}`];
  return [`${CHANGES[kind]} ${begun}`, ...words, ...later].join(" · ");
}
