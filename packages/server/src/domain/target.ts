import { formatSecret, hasChecksum } from "./access-token.ts";
import type { AccountKey } from "./account.ts";
import type { Service } from "./bouquet.ts";
import type { ConnectionKey, Environment } from "./customer.ts";
import type { RecordedEvent } from "./event.ts";
import { DAY_MS, type Instant } from "./wall-time.ts";

/** A system of the provider's that receives events, or the webhook of a partner. */
export interface Target {
  readonly id: number;
  readonly name: string;
  /** The account whose facts a partner's webhook gets; undefined for the provider's systems. */
  readonly partner: AccountKey | undefined;
  readonly config: TargetConfig;
  /** Whether the target is the provider's billing, which gets every event. */
  readonly billing: boolean;
  readonly paused: boolean;
  /** Whether it is paused because it answered 410 Gone. */
  readonly gone: boolean;
  readonly createdAt: Instant;
  /** Time of the last `resend`; undefined if there was none. */
  readonly resentAt: Instant | undefined;
  /** Secrets of a webhook, newest first; empty for other kinds. */
  readonly secrets: readonly WebhookSecret[];
}

export type TargetConfig =
  | { readonly kind: "webhook"; readonly url: string }
  | RadiusConfig
  | { readonly kind: "feed" };
export type TargetKind = TargetConfig["kind"];
export const TARGET_KINDS = ["webhook", "radius", "feed"] as const satisfies readonly TargetKind[];

/** The database of a FreeRADIUS server, and what topupd writes there. */
export interface RadiusConfig {
  readonly kind: "radius";
  /** An address that `readRadiusAddress` accepts. */
  readonly database: string;
  /** IANA name of the zone of the RADIUS server's clock. */
  readonly timeZone: string;
  /** The `radusergroup` of each plan. */
  readonly groups: Readonly<Record<string, string>>;
  /** Group for other plans; undefined if their users keep their group. */
  readonly defaultGroup: string | undefined;
  /** Group of users whose plans ended, who can then still log in; undefined if they cannot. */
  readonly expiredGroup?: string | undefined;
  /** How devices end sessions; undefined if sessions are left alone. */
  readonly sessions?: SessionsConfig | undefined;
  /** The only service whose connections are users, since two services may share a username. */
  readonly service: Service;
}

/** The name of a partner's webhook. Its blanks keep it apart from names that staff choose for targets. */
export function webhookName(partner: string, environment: Environment): string {
  return `partner ${partner} ${environment}`;
}

export interface SessionsConfig {
  /** Time from the written rows until sessions end, since RADIUS may read a replica. */
  readonly waitSeconds: number;
  /** Devices by the `nasipaddress` of their sessions: an address, or a range in the form of readAddressRange. */
  readonly devices: Readonly<Record<string, SessionDevice>>;
}

/** A device that holds sessions (RFC 5176). */
export interface SessionDevice {
  /** Undefined: that of the session. */
  readonly address: string | undefined;
  readonly port: number;
  readonly secret: string;
  /** Attributes of a session that name it. */
  readonly identify: readonly string[];
  /** Attributes that are the same for all sessions. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Whether Event-Timestamp is sent. */
  readonly timestamp: boolean;
}

/** A secret of the Standard Webhooks specification: `whsec_` and the key in base64. */
export interface WebhookSecret {
  readonly secret: string;
  /** First instant at which the secret no longer signs; undefined for the newest. */
  readonly until: Instant | undefined;
}

const KEY_PREFIX = "topup_target_";
const KEY_SHAPE = /^topup_target_[0-9A-Za-z]{49}$/;

/** Makes the key by which a webhook's receiver confirms events. @param random 32 bytes. */
export function formatTargetKey(random: Uint8Array): string {
  return formatSecret(KEY_PREFIX, random);
}

/** Checks form and checksum, so that another key costs no look-up. */
export function isTargetKey(text: string): boolean {
  return KEY_SHAPE.test(text) && hasChecksum(text);
}

/** How long a previous secret signs beside the new one. */
const SECRET_OVERLAP_MS = DAY_MS;
/** Adds a new secret at the front. Each previous secret signs until its promised time. */
export function rotateSecrets(secrets: readonly WebhookSecret[], secret: string, now: Instant): WebhookSecret[] {
  const signing = secrets
    .map((each) => ({ ...each, until: each.until ?? now + SECRET_OVERLAP_MS }))
    .filter(({ until }) => until > now);
  return [{ secret, until: undefined }, ...signing];
}

/** Whether a target gets the events of a connection. */
export function takesConnection(
  { config, partner }: Pick<Target, "config" | "partner">,
  { environment, service }: Pick<ConnectionKey, "environment" | "service">,
): boolean {
  if (config.kind === "radius") return environment === "production" && service === config.service;
  return partner === undefined;
}

/** URL of a target without password and query, which may contain secrets; undefined for a feed. */
export function addressOf(config: TargetConfig): string | undefined {
  if (config.kind === "feed") return undefined;
  const url = new URL(config.kind === "webhook" ? config.url : config.database);
  url.password = "";
  url.search = "";
  return url.href;
}

/** Events that a target lacks. */
export interface TargetProgress {
  /** All events that it lacks: not sent yet, failing or set aside. */
  readonly behind: number;
  readonly failing: number;
  readonly setAside: number;
  /** Time of the oldest event that it lacks; undefined if it has all. */
  readonly oldestAt: Instant | undefined;
  /** Time of the oldest of those that are not set aside. */
  readonly oldestDueAt: Instant | undefined;
}

/** Time after which an undelivered event, a step or a standby is late. */
export const LATE_MS = 5 * 60_000;
/** A target usually gets an event within seconds. The reader of a feed may come once a night. */
const BEHIND_AFTER_MS: Readonly<Record<TargetKind, number>> = { webhook: LATE_MS, radius: LATE_MS, feed: 2 * DAY_MS };
export const TARGET_STATES = ["gone", "paused", "failing", "behind", "set_aside", "up_to_date"] as const;

/** Whether a target has lacked an event that is not set aside for over five minutes, or two days if it is a feed. */
export function isBehind({ config }: Target, { oldestDueAt }: TargetProgress, now: Instant): boolean {
  return oldestDueAt !== undefined && oldestDueAt < now - BEHIND_AFTER_MS[config.kind];
}

/** The worst state of a target, for every page and command. */
export function targetState(target: Target, progress: TargetProgress, now: Instant): (typeof TARGET_STATES)[number] {
  const { paused, gone } = target;
  if (paused) return gone ? "gone" : "paused";
  if (progress.failing > 0) return "failing";
  if (isBehind(target, progress, now)) return "behind";
  return progress.setAside > 0 ? "set_aside" : "up_to_date";
}

/** A failed delivery, or one that waits behind a failed delivery of its connection. */
export interface WaitingDelivery {
  /** Number of the event. */
  readonly seq: number;
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Time of the first failure; undefined if not tried yet. */
  readonly failedAt: Instant | undefined;
  readonly nextAt: Instant;
  /** Whether retries stopped until `resend`. */
  readonly setAside: boolean;
  /** Why the last attempt failed. */
  readonly problem: string | undefined;
}

/** A waiting event that is due when it is the first of its connection. */
export function untried(seq: number, now: Instant): WaitingDelivery {
  return { seq, attempts: 0, failedAt: undefined, nextAt: now, setAside: false, problem: undefined };
}

/** An attempt to deliver an event, for staff. */
export interface LoggedAttempt extends Exchange {
  /** Start of the attempt. */
  readonly at: Instant;
  /** Number of the event; 0 for a test event. */
  readonly seq: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Why the attempt failed. */
  readonly problem: string | undefined;
  readonly durationMs: number;
}

/** The problem of an attempt at a private address. */
export const ADDRESS_REFUSED = "the address is private, and TOPUPD_PRIVATE_TARGETS does not allow it";

/** All that a partner reads of a failed attempt: otherwise its webhook would show what the provider's network can reach. */
export const PARTNER_PROBLEMS = ["no answer", "refused", "not allowed"] as const;

/** @returns undefined if the attempt did not fail. */
export function partnerProblem({
  status,
  problem,
}: Pick<LoggedAttempt, "status" | "problem">): (typeof PARTNER_PROBLEMS)[number] | undefined {
  if (problem === undefined) return undefined;
  if (status !== undefined) return "refused";
  return problem === ADDRESS_REFUSED ? "not allowed" : "no answer";
}

/** The last attempts that are kept for each target, and for how long. */
export const MOST_LOGGED = 50;
export const LOG_KEPT_MS = 7 * DAY_MS;

const RETRY_SECONDS = [1, 5, 30, 120, 600, 3600] as const;
/** How long a target can ask topupd to wait. */
const MOST_WAITING_MS = 3_600_000;

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date, which is in GMT in each of its forms.
 * @returns time before which the target wants nothing, an hour from now at most; undefined if it names none.
 */
export function retryAfter(value = "", now: Instant): Instant | undefined {
  const isSeconds = /^\d+$/.test(value);
  const until = isSeconds ? now + Number(value) * 1000 : Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return until > now ? Math.min(until, now + MOST_WAITING_MS) : undefined;
}

const SET_ASIDE_AFTER_MS = 3 * DAY_MS;
/** The longest pause between two attempts: an hour, and up to a tenth. */
export const LONGEST_PAUSE_MS = 3_600_000 * 1.1;

/** Time of the next attempt. From the sixth failure on, it comes an hour later, plus up to a tenth. @param random 0 to 1. */
export function nextAttempt(attempts: number, now: Instant, random: number): Instant {
  const seconds = RETRY_SECONDS[Math.min(attempts, RETRY_SECONDS.length) - 1] ?? RETRY_SECONDS[0];
  return now + Math.round(seconds * 1000 * (attempts >= RETRY_SECONDS.length ? 1 + random / 10 : 1));
}

/** So many failures that count, and the hourly ones among them make three days. */
export const SET_ASIDE_AFTER = RETRY_SECONDS.length + SET_ASIDE_AFTER_MS / 3_600_000;

/**
 * The failures that count against a subject, after one more. An hourly one counts only if the target took others since the
 * one before it: an outage says nothing about the subject.
 * @param tookAgoMs time since the target took anything.
 */
export function failuresAfter(failures: number, tookAgoMs: number): number {
  return failures < RETRY_SECONDS.length || tookAgoMs <= LONGEST_PAUSE_MS ? failures + 1 : failures;
}

/** Whether a delivery has failed so long that it is set aside. */
export function isHopeless(failedAt: Instant, now: Instant): boolean {
  return now - failedAt >= SET_ASIDE_AFTER_MS;
}

/** Texts of an attempt, for staff. They contain no header and no secret. */
export interface Exchange {
  /** The sent body, or the written rows of RADIUS. */
  readonly request?: string | undefined;
  /** The HTTP status. */
  readonly status?: number | undefined;
  /** The beginning of the answer's body. */
  readonly answer?: string | undefined;
}

/** An exchange that a sender fills in. */
export type OpenExchange = { -readonly [Field in keyof Exchange]: Exchange[Field] } & {
  /** Whether the answer promises a confirmation. */
  isPending?: boolean;
};

/** A message of a webhook. Its id is the `webhook-id`. */
export interface Identified {
  readonly id: string;
}

/** Posts messages to one webhook: up to 32 at a time. */
export interface Poster {
  /**
   * Resolves once the receiver has the message.
   * @param exchange is filled in as it becomes known, also if the attempt fails.
   * @throws DeliveryFailed, with a reason for staff that contains no secret and no stored data.
   */
  post(message: Identified, signal: AbortSignal, exchange: OpenExchange): Promise<void>;
  close(): Promise<void>;
}

/** Sends events to one target: up to 32 connections at a time, the events of each in order. */
export interface Sender {
  /**
   * Resolves once the target has the event.
   * @param exchange is filled in as it becomes known, also if the attempt fails; empty if the event is not for this target.
   * @throws DeliveryFailed, with a reason for staff that contains no secret and no stored data.
   */
  send(event: RecordedEvent, signal: AbortSignal, exchange?: OpenExchange): Promise<void>;
  close(): Promise<void>;
}

type FailureOptions = ErrorOptions & Partial<Pick<DeliveryFailed, "isAnswer" | "retryAt">>;

/** A failed delivery. The target may have received the event. */
export class DeliveryFailed extends Error {
  override readonly name = "DeliveryFailed";
  /** Whether the target itself refused: it is reachable, and may accept other events. */
  readonly isAnswer: boolean;
  /** Time before which the target wants nothing; Infinity if it is gone, undefined if it names none. */
  readonly retryAt: Instant | undefined;

  constructor(message: string, { isAnswer = false, retryAt, ...options }: FailureOptions = {}) {
    super(message, options);
    this.isAnswer = isAnswer;
    this.retryAt = retryAt;
  }
}

/** Time limit of one attempt. */
export const SENDING_LIMIT_MS = 15_000;
