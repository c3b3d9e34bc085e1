import type { StaffKey, StaffMember } from "../../domain/staff.ts";
import { isoTime, isoTimeOrNull } from "../../domain/wall-time.ts";

/*
 * What staff are told, as data: commands print it with --json, and the staff API answers with it. Nothing here is secret:
 * addresses have no password and no query.
 */

export function memberData({ name, role, createdAt, hasTotp }: StaffMember) {
  return { name, role, createdAt: isoTime(createdAt), hasTotp };
}

export function staffKeyData({ name, role, createdAt, lastUsedAt }: StaffKey) {
  return { name, role, createdAt: isoTime(createdAt), lastUsedAt: isoTimeOrNull(lastUsedAt) };
}
