import { eventId } from "../../domain/event.ts";
import { SETTLED_AFTER_MS } from "../../domain/ledger-import.ts";
import { addressOf, type Target } from "../../domain/target.ts";
import { type Instant, isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import { listTargets } from "../../store/events.ts";
import type { Db } from "../office.ts";
import { type FailedDelivery, readProgress, type TargetProgress } from "./sql.ts";

export interface TargetStatus {
  readonly target: Target;
  readonly progress: TargetProgress;
}

export async function statusesOf(db: Db): Promise<TargetStatus[]> {
  const statuses: TargetStatus[] = [];
  for (const target of await listTargets(db)) statuses.push({ target, progress: await readProgress(db, target) });
  return statuses;
}

/** Presents a target without what is secret. */
export function targetData({ target, progress }: TargetStatus) {
  const { id, name, config, billing, paused, createdAt } = target;
  const { behind, failing, setAside, oldestAt } = progress;
  const service = config.kind === "radius" ? config.service : null;
  const shown = { id, name, kind: config.kind, service, address: addressOf(config) ?? null, billing, paused };
  return { ...shown, createdAt: isoTime(createdAt), behind, failing, setAside, oldestAt: isoTimeOrNull(oldestAt) };
}

export function detailData({ target, progress }: TargetStatus, now: Instant) {
  const { config, secrets } = target;
  const { timeZone = null, groups = null, defaultGroup = null } = config.kind === "radius" ? config : {};
  return {
    ...targetData({ target, progress }),
    allowPrivate: config.kind === "webhook" ? config.allowPrivate : null,
    formerSecretUntil: isoTimeOrNull(secrets[1]?.until),
    timeZone,
    groups: groups === null ? null : { ...groups },
    defaultGroup,
    acknowledgedUntil: isoTimeOrNull(acknowledgedUntil(target, progress, now)),
  };
}

/** A batch is recorded up to 30 s after it was decided: so much older than an event may be one that was recorded after it. */
const OLDEST_IN_A_BATCH_MS = 31_000;

/**
 * Until when billing has every top-up and reversal since it was added; undefined if that is not known. Other targets do
 * not get every event.
 */
function acknowledgedUntil(
  { billing, createdAt }: Target,
  { oldestAt }: TargetProgress,
  now: Instant,
): Instant | undefined {
  const until = Math.min(now - SETTLED_AFTER_MS, (oldestAt ?? now) - OLDEST_IN_A_BATCH_MS);
  return billing && until >= createdAt ? until : undefined;
}

export function failedData({ event, attempts, failedAt, nextAt, setAside, problem }: FailedDelivery) {
  const { environment, cuid, service, reqId } = event.key;
  return {
    ...{ id: eventId(event), kind: event.kind, environment, cuid, service, reqId, attempts },
    ...{ failedAt: isoTimeOrNull(failedAt), nextAt: isoTime(nextAt), setAside, problem: problem ?? null },
  };
}
