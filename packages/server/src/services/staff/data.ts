import { eventId } from "../../domain/event.ts";
import type { StaffKey, StaffMember } from "../../domain/staff.ts";
import { addressOf } from "../../domain/target.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";
import type { FailedDelivery, TargetStatus } from "./targets.ts";

/*
 * What staff are told, as data: commands print it with --json, and the staff API answers with it. Nothing here is secret:
 * addresses have no password and no query.
 */

/** `oldestAt`: when the oldest event happened that the target does not have. */
export function targetData({ target, progress }: TargetStatus) {
  const { id, name, config, books, paused, createdAt } = target;
  const { behind, failing, setAside, oldestAt } = progress;
  return {
    ...{ id, name, kind: config.kind, service: config.kind === "radius" ? config.service : null },
    ...{ address: addressOf(config) ?? null, books, paused },
    ...{ createdAt: isoTime(createdAt), behind, failing, setAside, oldestAt: isoTimeOrNull(oldestAt) },
  };
}

export function failedData({ event, attempts, failedAt, nextAt, setAside, problem }: FailedDelivery) {
  const { environment, cuid, service, reqId } = event.key;
  return {
    ...{ id: eventId(event), kind: event.kind, environment, cuid, service, reqId, attempts },
    ...{ failedAt: isoTimeOrNull(failedAt), nextAt: isoTime(nextAt), setAside, problem: problem ?? null },
  };
}

export function memberData({ name, role, createdAt, hasTotp }: StaffMember) {
  return { name, role, createdAt: isoTime(createdAt), hasTotp };
}

export function staffKeyData({ name, role, createdAt, lastUsedAt }: StaffKey) {
  return { name, role, createdAt: isoTime(createdAt), lastUsedAt: isoTimeOrNull(lastUsedAt) };
}
