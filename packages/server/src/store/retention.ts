import type { Instant } from "../domain/wall-time.ts";

/** How far history goes back. It rejects as the methods of the store do. */
export interface Retention {
  /** The time from which history is whole; undefined if none was ever deleted. */
  prunedBefore(): Promise<Instant | undefined>;
}
