import { eventId, type RecordedEvent, seqOfEventId } from "../../domain/event.ts";
import { SETTLED_AFTER_MS } from "../../domain/ledger-import.ts";
import type { RadiusDifference } from "../../domain/radius.ts";
import { isSameDatabase } from "../../domain/radius-config.ts";
import type { RadiusConfig, Target, TargetConfig, WaitingDelivery } from "../../domain/target.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { TargetProgress } from "../../store/outbox.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { DeliveryFailed, type Sender } from "../../workers/sender.ts";
import { type Actor, attributionOf, type Ports, type ReadingPorts } from "../ports.ts";

/** What is known of targets where they are called. */
export interface TargetTools {
  /** Why no webhook may have this URL, as it goes on after "the URL"; undefined where one may. */
  refuseUrl(url: string, allowPrivate: boolean): Promise<string | undefined>;
  /** Of a webhook. */
  newSecret(): Promise<string>;
  createSender(target: Target, provider: ProviderSettings): Sender;
  /**
   * Compares what RADIUS has with what is on record, and corrects what differs unless it is a dry run.
   * @throws DeliveryFailed where its database does not take part.
   */
  reconcileRadius(
    ports: Pick<Ports, "store" | "clock">,
    config: RadiusConfig,
    request: { readonly dryRun: boolean },
    onDifference: (difference: RadiusDifference) => void,
  ): Promise<RadiusCounts>;
}

export interface RadiusCounts {
  /** Users. */
  readonly compared: number;
  readonly differing: number;
}

export type TargetPorts = Ports & { readonly targets: TargetTools };

/** It is a word of shell commands, metrics and logs. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

export interface AddRequest {
  readonly name: string;
  readonly config: TargetConfig;
  readonly books: boolean;
}

export type TargetAdded =
  /** `secret`: of a webhook, and shown this one time. */
  | { readonly kind: "added"; readonly target: Target; readonly secret: string | undefined }
  | { readonly kind: "name_taken" }
  /** It is empty, longer than 64 characters, or has others than letters, digits, `.`, `_` and `-`. */
  | { readonly kind: "bad_name" }
  /** The webhook may not be called there. */
  | { readonly kind: "bad_url"; readonly problem: string }
  /** The RADIUS target named `by` writes into the same database, where a username of two services would be one user. */
  | { readonly kind: "database_taken"; readonly by: string };

/** Adds a target, which is told of what happens from now on. */
export async function addTarget(ports: TargetPorts, actor: Actor, request: AddRequest): Promise<TargetAdded> {
  const { name, config } = request;
  if (!NAME.test(name)) return { kind: "bad_name" };
  const { targets } = ports;
  const isWebhook = config.kind === "webhook";
  const problem = isWebhook ? await targets.refuseUrl(config.url, config.allowPrivate) : undefined;
  if (problem !== undefined) return { kind: "bad_url", problem };
  const other = config.kind === "radius" ? await findRadius(ports, config.database) : undefined;
  if (other !== undefined) return { kind: "database_taken", by: other.name };
  const secret = isWebhook ? await targets.newSecret() : undefined;
  const secrets = secret === undefined ? [] : [{ secret, until: undefined }];
  const target = await ports.store.targets.add({ ...request, secrets }, attributionOf(ports, actor));
  return target === "name_taken" ? { kind: "name_taken" } : { kind: "added", target, secret };
}

async function findRadius({ store: { targets } }: Ports, database: string): Promise<Target | undefined> {
  const all = await targets.list();
  return all.find(({ config }) => config.kind === "radius" && isSameDatabase(config.database, database));
}

export interface NamedTarget {
  readonly name: string;
}

/** Has a target wait, or go on; of one that waits, nothing is lost for 30 days. @returns undefined if there is none. */
export function setTargetPaused(
  ports: Ports,
  actor: Actor,
  { name, paused }: NamedTarget & { readonly paused: boolean },
): Promise<Target | undefined> {
  return ports.store.targets.setPaused(name, paused, attributionOf(ports, actor));
}

/** @returns undefined if there is none. */
export function removeTarget(ports: Ports, actor: Actor, { name }: NamedTarget): Promise<Target | undefined> {
  return ports.store.targets.remove(name, attributionOf(ports, actor));
}

export type SecretRotated =
  /** `secret` is shown this one time; `formerUntil`: until then the previous one signs beside it. */
  | { readonly kind: "rotated"; readonly target: Target; readonly secret: string; readonly formerUntil: Instant }
  | { readonly kind: "no_target" }
  | { readonly kind: "no_webhook" };

export async function rotateTargetSecret(
  ports: TargetPorts,
  actor: Actor,
  { name }: NamedTarget,
): Promise<SecretRotated> {
  const { store, targets } = ports;
  const found = await store.targets.find(name);
  if (found === undefined) return { kind: "no_target" };
  if (found.config.kind !== "webhook") return { kind: "no_webhook" };
  const [secret, by] = [await targets.newSecret(), attributionOf(ports, actor)];
  const target = await store.targets.rotateSecret(name, secret, by);
  if (target === undefined) return { kind: "no_target" };
  return { kind: "rotated", target, secret, formerUntil: target.secrets[1]?.until ?? by.at };
}

/** Has all that waits or was set aside tried again now. @returns how many; undefined if there is no such target. */
export async function resendToTarget(ports: Ports, actor: Actor, { name }: NamedTarget): Promise<number | undefined> {
  const { targets } = ports.store;
  const target = await targets.find(name);
  return target && targets.resend(target.id, attributionOf(ports, actor));
}

export interface TargetStatus {
  readonly target: Target;
  readonly progress: TargetProgress;
}

export async function listTargets({ store: { targets } }: ReadingPorts): Promise<readonly TargetStatus[]> {
  const statuses: TargetStatus[] = [];
  for (const target of await targets.list()) statuses.push({ target, progress: await targets.progress(target.id) });
  return statuses;
}

export interface ShownTarget extends TargetStatus {
  /**
   * Of billing: up to when it has every top-up and reversal since it was added. Undefined where that cannot be said of any
   * moment, and of targets that are not billing, since they are not told of everything.
   */
  readonly acknowledgedUntil: Instant | undefined;
}

/** @returns undefined if there is none. */
export async function showTarget(
  { store, clock }: Pick<Ports, "store" | "clock">,
  { name }: NamedTarget,
): Promise<ShownTarget | undefined> {
  const target = await store.targets.find(name);
  if (target === undefined) return undefined;
  const now = clock();
  // What was decided a minute ago is recorded, or never will be, but a commit may still wait for a standby.
  if (target.books) await store.search.awaitCommits();
  const progress = await store.targets.progress(target.id);
  return { target, progress, acknowledgedUntil: acknowledgedUntil(target, progress, now) };
}

/** A batch is recorded up to 30 s after it was decided: so much older than an event may be one that was recorded after it. */
const OLDEST_IN_A_BATCH_MS = 31_000;

function acknowledgedUntil(
  { books, createdAt }: Target,
  { oldestAt }: TargetProgress,
  now: Instant,
): Instant | undefined {
  const until = Math.min(now - SETTLED_AFTER_MS, (oldestAt ?? now) - OLDEST_IN_A_BATCH_MS);
  return books && until >= createdAt ? until : undefined;
}

export type FailedDelivery = WaitingDelivery & { readonly event: RecordedEvent };

/** The most that one list holds. */
export const MAX_FAILED = 1_000;

/** What waits after it failed, or behind what did, or is set aside, oldest first. @returns undefined if there is no such target. */
export async function listFailed(
  { store: { targets } }: ReadingPorts,
  { name }: NamedTarget,
): Promise<readonly FailedDelivery[] | undefined> {
  const target = await targets.find(name);
  return target && targets.waiting(target.id, MAX_FAILED);
}

export type TargetReconciled =
  | ({ readonly kind: "done" } & RadiusCounts)
  | { readonly kind: "no_target" }
  | { readonly kind: "no_radius" }
  /** Something may be corrected by then. */
  | { readonly kind: "failed"; readonly problem: string };

/** Compares what a RADIUS server has with what is on record, and corrects it unless it is a dry run. */
export async function reconcileTarget(
  ports: TargetPorts,
  actor: Actor,
  { name, dryRun }: NamedTarget & { readonly dryRun: boolean },
  onDifference: (difference: RadiusDifference) => void,
): Promise<TargetReconciled> {
  const target = await ports.store.targets.find(name);
  if (target === undefined) return { kind: "no_target" };
  if (target.config.kind !== "radius") return { kind: "no_radius" };
  if (!dryRun) await ports.store.targets.noteReconciling(name, attributionOf(ports, actor));
  try {
    const counts = await ports.targets.reconcileRadius(ports, target.config, { dryRun }, onDifference);
    return { kind: "done", ...counts };
  } catch (error) {
    if (error instanceof DeliveryFailed) return { kind: "failed", problem: error.message };
    throw error;
  }
}

export interface FeedRequest extends NamedTarget {
  /** The id of the last event that was taken in; undefined to go on from where the feed is. */
  readonly cursor: string | undefined;
}

export type FeedOpened =
  /** `after`: the number of the event after which to read on. */
  | { readonly kind: "opened"; readonly after: number }
  | { readonly kind: "no_target" | "no_feed" | "paused" }
  /** It is of another database, of before a restore, or so old that it cannot be told what came after it. */
  | { readonly kind: "unknown_cursor" };

/** Notes what the reader of a feed has taken in, which is not kept for it any more. */
export async function openFeed({ store }: ReadingPorts, { name, cursor }: FeedRequest): Promise<FeedOpened> {
  const { targets, outbox } = store;
  const target = await targets.find(name);
  if (target === undefined) return { kind: "no_target" };
  if (target.config.kind !== "feed") return { kind: "no_feed" };
  if (target.paused) return { kind: "paused" };
  const place = await outbox.place(target.id);
  if (cursor === undefined) return { kind: "opened", after: place };
  const seq = seqOfEventId(cursor) ?? 0;
  const [event] = await outbox.eventsOf([seq]);
  // The event at the place itself may be gone, for this target has it.
  const isKnown = event === undefined ? seq === place && seq > 0 : eventId(event) === cursor;
  if (!isKnown) return { kind: "unknown_cursor" };
  await outbox.acknowledge(target.id, seq);
  return { kind: "opened", after: seq };
}

/** @returns the number of an event; undefined where there never was one of this id. One that is not kept any more is known. */
export async function placeOfEvent({ store: { outbox } }: ReadingPorts, id: string): Promise<number | undefined> {
  const seq = seqOfEventId(id);
  if (seq === undefined || seq > (await outbox.lastEvent())) return undefined;
  const [event] = await outbox.eventsOf([seq]);
  return event === undefined || eventId(event) === id ? seq : undefined;
}

/** Many enough to be quick, few enough to be held. */
const EVENTS_AT_ONCE = 500;

/** Pages of the events after a number, in their order, until there are none. */
export async function* readEvents(
  { store: { outbox } }: ReadingPorts,
  { after }: { readonly after: number },
): AsyncGenerator<readonly RecordedEvent[]> {
  let last: number | undefined = after;
  while (last !== undefined) {
    const events = await outbox.eventsAfter(last, EVENTS_AT_ONCE);
    if (events.length > 0) yield events;
    last = events.length < EVENTS_AT_ONCE ? undefined : events.at(-1)?.seq;
  }
}
