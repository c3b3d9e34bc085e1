/** Roles of the provider's staff and systems. */
export const ROLES = ["viewer", "support", "finance", "admin"] as const;
/** A seller is a person of one partner, who sells at the counter. */
export const ALL_ROLES = [...ROLES, "seller"] as const;
export type StaffRole = (typeof ROLES)[number];
export type Role = (typeof ALL_ROLES)[number];

/**
 * The account or API key behind a change, with its role when the change was accepted. The transaction of the change checks
 * it again.
 */
export type Authority =
  | {
      readonly staffId: number;
      readonly role: Role;
      /** Undefined for background work, which may outlast the log-in. */
      readonly sessionId: string | undefined;
    }
  | { readonly keyHash: Uint8Array; readonly role: Role };
