import { NOT_ENDED } from "./alert.ts";
import type { RecordedEvent } from "./event.ts";
import { alters } from "./radius.ts";
import { isHopeless, nextAttempt, type RadiusConfig, takesConnection } from "./target.ts";
import type { Instant, Zone } from "./wall-time.ts";

/*
 * The open sessions of a RADIUS user end once a change alters what the user may do. They are noted by their rows in radacct
 * before a device is asked, so that none is ended twice for one change. An accepted request is a promise: only radacct
 * confirms the end.
 */

/** An open session, by its row in radacct. */
export interface RadiusSession {
  readonly id: number;
  /** User-Name as its device reported it, which may be another than topupd's: in other case, for example. */
  readonly username: string;
  readonly sessionId: string;
  /** Its `nasipaddress`. */
  readonly device: string;
  readonly framedAddress: string | undefined;
  readonly caller: string | undefined;
}

export interface SessionState {
  readonly id: number;
  readonly ended: boolean;
  /** When the device last reported it; undefined if never. */
  readonly reportedAt: string | undefined;
}

/** A device's answer. `unknown`: it knows no such session, neither by all its names nor by its Acct-Session-Id alone. */
export type SessionAnswer = "accepted" | "silent" | "unknown" | { readonly problem: string };

/** Reads sessions and asks devices to end them. `open` and `states` reject if the RADIUS database fails. */
export interface SessionTools {
  /** The open sessions of at most 1,000 users. */
  open(usernames: readonly string[]): Promise<readonly RadiusSession[]>;
  /** @param ids at most 1,000. */
  states(ids: readonly number[]): Promise<readonly SessionState[]>;
  end(session: RadiusSession): Promise<SessionAnswer>;
  /** Open requests end as if the devices were silent. */
  close(): Promise<void>;
}

export interface NotedSession extends RadiusSession {
  readonly attempts: number;
  /** Whether the device was asked and the outcome is open. */
  readonly isAsked: boolean;
  /** Time of the next attempt; while it is asked, of the verdict. */
  readonly nextAt: Instant;
  readonly answer?: "accepted" | "silent" | "unknown" | undefined;
  /** Time of the last report of an unknown session; null if there was none. */
  readonly reportedAt?: string | null | undefined;
  /** Whether accounting reported it after its device had answered `unknown`. */
  readonly isReported?: boolean;
  readonly problem?: string | undefined;
  readonly ended?: boolean;
}

export const DUE_STATES = ["due", "ended", "none_open", "unknown", "failed"] as const;

/** A user of a RADIUS target whose sessions have to end, or have ended. */
export interface DueUser {
  readonly username: string;
  /** Number of the event that altered what the user may do. */
  readonly seq: number;
  /** Time of that event. */
  readonly at: Instant;
  readonly dueAt: Instant;
  /**
   * `failed`: a session did not end in time, and is tried again. `unknown`: radacct has an open session that its device does
   * not know, so nothing is confirmed, and nothing failed.
   */
  readonly state: (typeof DUE_STATES)[number];
  readonly endedAt: Instant | undefined;
  readonly problem: string | undefined;
  /** {@link NEVER}: nothing more is done; if it is due, the rows of the user are not written yet. */
  readonly nextAt: Instant;
  readonly attempts: number;
  readonly sessions: readonly NotedSession[];
}

/** News of a user, from the delivery of an event. */
export interface ToldUser {
  readonly username: string;
  readonly seq: number;
  /** Time of the event. */
  readonly at: Instant;
  /** Whether the user's sessions have to end: then the event's way to the target ends with them. */
  readonly alters: boolean;
  /** When sessions may end; undefined if the rows are not written yet. */
  readonly dueAt: Instant | undefined;
}

export const NEVER: Instant = NOT_ENDED;
/** Time from a request until it failed, and from the change until staff are told. */
export const CONFIRMED_WITHIN_MS = 60_000;
/** A log-in that RADIUS accepted before the change may appear so much later. */
const APPEARS_WITHIN_MS = 10_000;
/** How often a session that its device does not know is looked at. */
const UNKNOWN_EVERY_MS = 5 * 60_000;

/** @returns undefined if the event is not for a user of this target, or sessions are left alone. */
export function toldUser(event: RecordedEvent, config: RadiusConfig, zone: Zone): Omit<ToldUser, "dueAt"> | undefined {
  if (config.sessions === undefined || !isUserOf(event, config)) return undefined;
  return { username: event.key.reqId, seq: event.seq, at: event.at, alters: alters(event, { ...config, zone }) };
}

/** Whether an event is about a user of a RADIUS target. */
export function isUserOf(
  event: RecordedEvent,
  config: RadiusConfig,
): event is Exclude<RecordedEvent, { readonly alert: unknown }> {
  return !("alert" in event) && takesConnection({ config, partner: undefined }, event.key);
}

/** Notes the open sessions of a user, or that there is none. */
export function noteSessions(user: DueUser, open: readonly RadiusSession[], now: Instant): DueUser {
  if (open.length > 0) {
    const sessions = open.map(({ id, username, sessionId, device, framedAddress, caller }) => {
      return { id, username, sessionId, device, framedAddress, caller, attempts: 0, isAsked: false, nextAt: now };
    });
    return { ...user, sessions, nextAt: now };
  }
  if (now < user.dueAt + APPEARS_WITHIN_MS) return user;
  return { ...user, state: "none_open", endedAt: user.dueAt, nextAt: NEVER };
}

/** Applies what radacct shows, and verdicts that are due. @param isUnderWay whether a request for a session is open. */
export function seeSessions(
  user: DueUser,
  states: ReadonlyMap<number, SessionState>,
  { now, random, isUnderWay }: { now: Instant; random: () => number; isUnderWay: (id: number) => boolean },
): DueUser {
  const sessions = user.sessions.map((session): NotedSession => {
    const state = states.get(session.id);
    if (session.ended === true || state === undefined) return session;
    if (state.ended) return { ...session, ended: true, problem: undefined };
    if (session.answer === "unknown") return seeUnknown(user, session, state, now);
    if (!session.isAsked || session.nextAt > now || isUnderWay(session.id)) return session;
    return failed(session, unconfirmed(session), now, random());
  });
  if (sessions.every((session, index) => session === user.sessions[index])) return user;
  return settle({ ...user, sessions }, now);
}

/** If the device reports it again, it goes on: the step has failed, until radacct shows its end. */
function seeUnknown(user: DueUser, session: NotedSession, state: SessionState, now: Instant): NotedSession {
  const reportedAt = state.reportedAt ?? null;
  if (session.reportedAt === undefined) return { ...session, reportedAt };
  if (session.reportedAt !== reportedAt) {
    const anew = { isAsked: false, answer: undefined, reportedAt: undefined, nextAt: now };
    return { ...session, ...anew, isReported: true, problem: stillReported(session) };
  }
  if (session.nextAt > now) return session;
  return { ...session, nextAt: isHopeless(user.dueAt, now) ? NEVER : now + UNKNOWN_EVERY_MS };
}

function unconfirmed({ device, answer }: NotedSession): string {
  return answer === "accepted" ? `${device} accepted, and the session goes on` : `${device}: silent`;
}

function stillReported({ device }: NotedSession): string {
  return `${device} does not know the session, but accounting reports it`;
}

function failed(session: NotedSession, problem: string, now: Instant, random: number): NotedSession {
  const nextAt = nextAttempt(session.attempts, now, random);
  return { ...session, isAsked: false, answer: undefined, problem, nextAt };
}

/** The sessions whose devices are to be asked now. */
export function sessionsToAsk({ sessions }: DueUser, now: Instant): NotedSession[] {
  return sessions.filter(({ ended, isAsked, nextAt }) => ended !== true && !isAsked && nextAt <= now);
}

/** Must be saved before the device is asked. */
export function askSession(user: DueUser, id: number, now: Instant): DueUser {
  return change(user, id, now, (session) => {
    return { ...session, attempts: session.attempts + 1, isAsked: true, nextAt: now + CONFIRMED_WITHIN_MS };
  });
}

export function answerSession(user: DueUser, id: number, answer: SessionAnswer, now: Instant, random: number): DueUser {
  return change(user, id, now, (session) => {
    if (!session.isAsked) return session;
    if (typeof answer === "object") return failed(session, answer.problem, now, random);
    if (answer === "silent") return { ...session, answer };
    if (answer === "accepted") return { ...session, answer, nextAt: now + CONFIRMED_WITHIN_MS };
    const problem = session.isReported === true ? stillReported(session) : undefined;
    return { ...session, answer, problem, nextAt: now + UNKNOWN_EVERY_MS };
  });
}

function change(user: DueUser, id: number, now: Instant, to: (session: NotedSession) => NotedSession): DueUser {
  return settle({ ...user, sessions: user.sessions.map((each) => (each.id === id ? to(each) : each)) }, now);
}

/** The state of a user by that of the sessions. */
function settle(user: DueUser, now: Instant): DueUser {
  const open = user.sessions.filter(({ ended }) => ended !== true);
  const attempts = Math.max(0, ...user.sessions.map((each) => each.attempts));
  const problems = new Set(open.flatMap(({ problem }) => problem ?? []));
  const problem = problems.size === 0 ? undefined : [...problems].join("; ");
  const state = stateOf(open);
  const endedAt = state === "ended" ? (user.endedAt ?? now) : undefined;
  const nextAt = Math.min(NEVER, ...open.map((each) => each.nextAt));
  return { ...user, state, endedAt, problem, nextAt, attempts };
}

function stateOf(open: readonly NotedSession[]): DueUser["state"] {
  if (open.length === 0) return "ended";
  if (open.some(({ problem }) => problem !== undefined)) return "failed";
  return open.every(({ answer }) => answer === "unknown") ? "unknown" : "due";
}
