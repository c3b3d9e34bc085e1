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
  const links = [...linksByChanges(changes, now), ...linksByKeys(changes)];
  const names = new Set([author]);
  // The loop also reaches the names that it adds.
  for (const name of names) {
    const linked = links.filter((link) => link.includes(name)).flat();
    for (const each of linked) names.add(each);
  }
  return [...names].sort();
}

/** Two names of one person. */
type Link = readonly [string, string];

/** The changer of an account can log in with it. */
function linksByChanges(changes: readonly AccessChange[], now: Instant): Link[] {
  return changes
    .filter(({ action, byStaff, at }) => action !== "staff_key.add" && byStaff && at >= now - LINKED_MS)
    .map(({ author, subject }) => [author, subject]);
}

/** The maker of a key knows it. Only the newest key of a name gives access. */
function linksByKeys(changes: readonly AccessChange[]): Link[] {
  const made = changes.filter(({ action }) => action === "staff_key.add");
  const newest = new Map(made.map((change) => [change.subject, change]));
  return [...newest.values()].filter(({ byStaff }) => byStaff).map(({ author, subject }) => [author, `key ${subject}`]);
}
