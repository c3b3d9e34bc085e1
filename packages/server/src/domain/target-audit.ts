import type { AuditedChange } from "./audit.ts";
import { addressOf, type Target } from "./target.ts";
import { isoTimeOrNull } from "./wall-time.ts";

/* Entries of the audit trail about targets. They contain no secrets. */

export function targetAdded(target: Target): AuditedChange {
  return { action: "target.add", subject: target.name, before: undefined, after: targetOnRecord(target) };
}

/** Names each field that differs, since secrets are not shown. @returns undefined if none does. */
export function targetChanged(before: Target, after: Target): AuditedChange | undefined {
  const fields = differingPaths(before.config, after.config);
  if (fields.length === 0) return undefined;
  const of = { action: "target.change", subject: before.name, before: targetOnRecord(before) } as const;
  return { ...of, after: { ...targetOnRecord(after), changed: fields } };
}

/** Where two values differ: `sessions.devices.10.0.0.1.secret`. */
function differingPaths(before: unknown, after: unknown, path: readonly string[] = []): string[] {
  const members = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
    typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  const [one, other] = [members(before), members(after)];
  if (one === undefined || other === undefined)
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [path.join(".")];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => differingPaths(one[name], other[name], [...path, name]));
}

export function targetPausedSet({ name, paused: before }: Target, after: boolean): AuditedChange {
  const action = after ? "target.pause" : "target.resume";
  return { action, subject: name, before: { paused: before }, after: { paused: after } };
}

/** @param target as it is from now on. */
export function targetRotated({ name, secrets: [, former] }: Target): AuditedChange {
  const after = { formerUntil: isoTimeOrNull(former?.until) };
  return { action: "target.rotate", subject: name, before: undefined, after };
}

/** @param resent number of deliveries that are retried. @param event the id if only one event is sent again. */
export function targetResent({ name }: Target, resent: number, event?: string): AuditedChange {
  const after = event === undefined ? { resent } : { resent, event };
  return { action: "target.resend", subject: name, before: undefined, after };
}

/** The entry of a reconciliation is written before it starts, so that an interrupted run is recorded too. */
export function targetHandled(action: "target.key" | "target.reconcile", { name }: Target): AuditedChange {
  return { action, subject: name, before: undefined, after: undefined };
}

export function targetRemoved(target: Target): AuditedChange {
  return { action: "target.remove", subject: target.name, before: targetOnRecord(target), after: undefined };
}

function targetOnRecord({ id, config, billing }: Target) {
  const { kind } = config;
  const record = { id, kind, address: addressOf(config) ?? null, billing };
  if (kind !== "radius") return record;
  const { timeZone, groups, defaultGroup = null, expiredGroup, sessions, service } = config;
  const devices = sessions && Object.keys(sessions.devices);
  return { ...record, service, timeZone, groups, defaultGroup, expiredGroup, devices };
}
