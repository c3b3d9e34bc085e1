import type { Service } from "./bouquet.ts";
import type { RecordedEvent } from "./event.ts";
import { DAY_MS, type Instant } from "./wall-time.ts";

/** A system of the provider's that is told of events. */
export interface Target {
  readonly id: number;
  readonly name: string;
  readonly config: TargetConfig;
  /** Whether it is the provider's billing: no event of it is left out for a later one. */
  readonly billing: boolean;
  readonly paused: boolean;
  readonly createdAt: Instant;
  /** When staff had all that waits tried again; undefined where they never had. */
  readonly resentAt: Instant | undefined;
  /** Newest first; of a webhook alone. */
  readonly secrets: readonly WebhookSecret[];
}

export type TargetConfig =
  /** `allowPrivate`: also addresses of private networks may be called. */
  | { readonly kind: "webhook"; readonly url: string; readonly allowPrivate: boolean }
  | RadiusConfig
  | { readonly kind: "feed" };
export type TargetKind = TargetConfig["kind"];
export const TARGET_KINDS = ["webhook", "radius", "feed"] as const satisfies readonly TargetKind[];

/** Where FreeRADIUS reads its users, and what topupd writes there. */
export interface RadiusConfig {
  readonly kind: "radius";
  /** As `readRadiusAddress` reads it. */
  readonly database: string;
  /** IANA name of the zone of the RADIUS server's clock. */
  readonly timeZone: string;
  /** The group of `radusergroup` of each plan. */
  readonly groups: Readonly<Record<string, string>>;
  /** Of plans that are not listed; undefined where their users keep the group they have. */
  readonly defaultGroup: string | undefined;
  /** The only service whose connections are its users: two services may share a username. */
  readonly service: Service;
}

/** By the Standard Webhooks specification: `whsec_` and the key in base64. */
export interface WebhookSecret {
  readonly secret: string;
  /** From when on it signs no more; undefined of the newest. */
  readonly until: Instant | undefined;
}

/** For how long a previous secret signs beside the new one. */
const SECRET_OVERLAP_MS = DAY_MS;
/** Puts a new secret first. Each previous one signs until the time promised for it. */
export function rotateSecrets(secrets: readonly WebhookSecret[], secret: string, now: Instant): WebhookSecret[] {
  const signing = secrets
    .map((each) => ({ ...each, until: each.until ?? now + SECRET_OVERLAP_MS }))
    .filter(({ until }) => until > now);
  return [{ secret, until: undefined }, ...signing];
}

/** Where a target is, without its password, and without a query, which may hold one; undefined of a feed. */
export function addressOf(config: TargetConfig): string | undefined {
  if (config.kind === "feed") return undefined;
  const url = new URL(config.kind === "webhook" ? config.url : config.database);
  url.password = "";
  url.search = "";
  return url.href;
}

/** A delivery that failed, or waits behind one of its connection that did. */
export interface WaitingDelivery {
  /** Of the event. */
  readonly seq: number;
  /** How often it was tried. */
  readonly attempts: number;
  /** When it failed first; undefined where it was not tried yet. */
  readonly failedAt: Instant | undefined;
  readonly nextAt: Instant;
  /** Whether it is tried no more, until it is asked for. */
  readonly setAside: boolean;
  /** Why it failed last. */
  readonly problem: string | undefined;
}

const RETRY_SECONDS = [1, 5, 30, 120, 600, 3600] as const;
const SET_ASIDE_AFTER_MS = 3 * DAY_MS;

/** When a delivery that has failed so often is tried again: after an hour and more, up to a tenth later. @param random from 0 to 1. */
export function nextAttempt(attempts: number, now: Instant, random: number): Instant {
  const seconds = RETRY_SECONDS[Math.min(attempts, RETRY_SECONDS.length) - 1] ?? RETRY_SECONDS[0];
  return now + Math.round(seconds * 1000 * (attempts >= RETRY_SECONDS.length ? 1 + random / 10 : 1));
}

/** Whether it has failed for so long that it is not worth another attempt by itself. */
export function isHopeless(failedAt: Instant, now: Instant): boolean {
  return now - failedAt >= SET_ASIDE_AFTER_MS;
}

/** What takes events to one target. It is called for up to 32 connections at a time, and for each of them in order. */
export interface Sender {
  /**
   * Resolves once the target has the event.
   * @throws DeliveryFailed, with a reason for staff: it says nothing of what is stored or secret.
   */
  send(event: RecordedEvent, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The target did not take the event, or nobody knows whether it did. */
export class DeliveryFailed extends Error {
  override readonly name = "DeliveryFailed";
  /** Whether the target itself said so: it is there, and others may be taken. */
  readonly isAnswer: boolean;

  constructor(message: string, { isAnswer = false, ...options }: ErrorOptions & { readonly isAnswer?: boolean } = {}) {
    super(message, options);
    this.isAnswer = isAnswer;
  }
}

/** No attempt takes longer. */
export const SENDING_LIMIT_MS = 15_000;
