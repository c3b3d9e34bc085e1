import type { Attribution } from "../domain/audit.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { Actor } from "../office/office.ts";
import type { Ports } from "../store/ports.ts";

export type { Actor } from "../office/office.ts";
export { momentOf, type Ports } from "../store/ports.ts";

/** What is said in the audit trail of a change that is made now. */
export function attributionOf({ clock }: Pick<Ports, "clock">, actor: Actor, reason?: string): Attribution {
  return attributionAt(clock(), actor, reason);
}

/** The same, of a change whose time was taken before. */
export function attributionAt(at: Instant, { name: author, authority }: Actor, reason?: string): Attribution {
  return { author, authority, at, reason };
}
