import type { Instant, Moment } from "../domain/wall-time.ts";
import type { Store } from "./store.ts";

/** What services need of the world. */
export interface Ports {
  readonly store: Store;
  readonly clock: () => Instant;
  /** Returns this many bytes that cannot be guessed. */
  readonly random: (bytes: number) => Uint8Array;
}

export type ReadingPorts = Pick<Ports, "store">;

/** Now, with the time on the provider's wall. */
export function momentOf({ store, clock }: Pick<Ports, "store" | "clock">): Moment {
  return store.provider.zone.moment(clock());
}
