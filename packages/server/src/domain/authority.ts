export const ROLES = ["viewer", "support", "finance", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** The account or API key behind a change. The transaction of the change checks it again. */
export type Authority =
  | {
      readonly staffId: number;
      /** Role when the change was accepted. */
      readonly role: Role;
      /** Undefined for background work, which may outlast the log-in. */
      readonly sessionId: string | undefined;
    }
  | { readonly keyHash: Uint8Array };
