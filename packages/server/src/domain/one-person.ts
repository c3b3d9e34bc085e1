import type { AuditAction, AuditEntry } from "./audit.ts";
import { DAY_MS, type Instant } from "./wall-time.ts";

/* Accounts and API keys that count as one person: one of them gives access to the others. */

/** A change of accounts or keys that can give its author access to its subject. */
export type AccessChange = Pick<AuditEntry, "action" | "author" | "byStaff" | "subject" | "at">;
export const ACCESS_ACTIONS = [
  "staff.add",
  "staff.role",
  "staff.password",
  "staff.totp_off",
  "staff_key.add",
] as const satisfies readonly AuditAction[];

/** How long a changed account counts as its changer. A key always counts as the account that made it. */
const LINKED_MS = 7 * DAY_MS;

/**
 * The names, in order, of all accounts and keys that are one person with an author.
 * @param changes all changes of {@link ACCESS_ACTIONS}, oldest first. Changes in the shell link nobody, because its user
 * controls the machine.
 */
export function namesOfPerson(changes: readonly AccessChange[], author: string, now: Instant): string[] {
  const makers = new Map<string, string>();
  const links: (readonly [string, string])[] = [];
  for (const { action, author: changer, byStaff, subject, at } of changes) {
    if (action === "staff_key.add") makers.set(`key ${subject}`, byStaff ? changer : "");
    else if (byStaff && at >= now - LINKED_MS) links.push([changer, subject]);
  }
  for (const [key, maker] of makers) if (maker !== "") links.push([maker, key]);
  const names = new Set([author]);
  for (let before = 0; before < names.size; ) {
    before = names.size;
    for (const link of links) if (link.some((name) => names.has(name))) for (const name of link) names.add(name);
  }
  return [...names].sort();
}
