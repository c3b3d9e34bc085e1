import type { Attribution } from "../domain/audit.ts";
import type { Correcting } from "../domain/correction.ts";
import type { Environment } from "../domain/customer.ts";
import type { Authority } from "../domain/staff.ts";
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
  /** Undefined for the command line, which has no account. */
  readonly authority?: Authority | undefined;
}

/** Now, by the provider's clock on the wall too. */
export function momentOf({ store, clock }: Pick<Ports, "store" | "clock">): Moment {
  return store.provider.zone.moment(clock());
}

/** What is said in the audit trail of a change that is made now. */
export function attributionOf({ clock }: Pick<Ports, "clock">, actor: Actor, reason?: string): Attribution {
  return attributionAt(clock(), actor, reason);
}

/** The same, of a change whose time was taken before. */
export function attributionAt(at: Instant, { name: author, authority }: Actor, reason?: string): Attribution {
  return { author, authority, at, reason };
}

/** The same, of a correction. */
export function correctingOf(ports: Pick<Ports, "store" | "clock">, actor: Actor, reason: string): Correcting {
  const { name: author, authority } = actor;
  return { author, authority, reason, at: momentOf(ports) };
}

/** For work in the background, which goes on after its log-in has ended. The account must still have its role. */
export function beyondSession({ name, authority }: Actor): Actor {
  const isPerson = authority !== undefined && "staffId" in authority;
  return { name, authority: isPerson ? { ...authority, sessionId: undefined } : authority };
}
