import type { Attribution } from "../domain/audit.ts";
import type { Correcting } from "../domain/correction.ts";
import type { Environment } from "../domain/customer.ts";
import type { Instant, Moment } from "../domain/wall-time.ts";
import type { Store } from "../store/store.ts";
import type { TokenUses } from "./partner/authenticate.ts";
import type { Observer, Recording } from "./partner/observer.ts";

/** What every service needs of the world. */
export interface Ports {
  readonly store: Store;
  readonly clock: () => Instant;
  /** So many bytes that nobody can guess. */
  readonly random: (bytes: number) => Uint8Array;
  /** Absent where nobody counts what the service does. */
  readonly observer?: Observer | undefined;
  /** Absent where nobody asks whether top-ups can be recorded. */
  readonly recording?: Pick<Recording, "succeeded" | "failed"> | undefined;
  /** Absent where nobody asks when tokens were used. */
  readonly tokenUses?: Pick<TokenUses, "note"> | undefined;
}

/** As much as is needed to read. */
export type ReadingPorts = Pick<Ports, "store">;

/** The partner on whose behalf a request runs. */
export interface Caller {
  readonly partnerId: number;
  readonly partnerName: string;
  readonly environment: Environment;
  /** Of the access token; undefined for histories that topupd makes itself. */
  readonly tokenId: string | undefined;
}

/** Who stands in the audit trail for what staff change. */
export interface Actor {
  readonly name: string;
}

/** Now, by the provider's clock on the wall too. */
export function momentOf({ store, clock }: Pick<Ports, "store" | "clock">): Moment {
  return store.provider.zone.moment(clock());
}

/** What is said in the audit trail of a change that is made now. */
export function attributionOf({ clock }: Pick<Ports, "clock">, { name }: Actor, reason?: string): Attribution {
  return { author: name, at: clock(), reason };
}

/** The same, of a correction. */
export function correctingOf(ports: Pick<Ports, "store" | "clock">, { name }: Actor, reason: string): Correcting {
  return { author: name, reason, at: momentOf(ports) };
}
