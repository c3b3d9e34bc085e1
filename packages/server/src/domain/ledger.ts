import type { Grant } from "./subscription.ts";

/** All that was granted to one plan of one connection, and what took some of it back: oldest first. */
export interface Ledger {
  readonly plan: string;
  readonly grants: readonly Grant[];
  /** Whether the beginning of it was let go. */
  readonly isPruned: boolean;
}
