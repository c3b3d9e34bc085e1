import type { Instant, Moment } from "../domain/wall-time.ts";
import type { Store } from "./store.ts";

export interface Ports {
  readonly store: Store;
  readonly clock: () => Instant;
  /** Returns this many random bytes, from a secure source. */
  readonly random: (bytes: number) => Uint8Array;
}

export type ReadingPorts = Pick<Ports, "store">;

/** The current time, with the wall time of the provider's zone. */
export function momentOf({ store, clock }: Pick<Ports, "store" | "clock">): Moment {
  return store.provider.zone.moment(clock());
}
