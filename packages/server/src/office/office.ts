import type { Attribution } from "../domain/audit.ts";
import type { Authority } from "../domain/authority.ts";
import type { AccountTools } from "../domain/passwords.ts";
import type { Ports } from "../store/ports.ts";
import type { ServiceState } from "../system/service-state.ts";
import type { Uploads } from "./imports/uploads.ts";
import type { Limits } from "./limits.ts";
import type { StatisticsCache } from "./statistics/cache.ts";
import type { TargetTools } from "./targets/radius.ts";

/** The account or shell that runs operations. */
export interface Actor {
  readonly name: string;
  /** Undefined for the command line, which has no account. */
  readonly authority?: Authority | undefined;
}

/** The parts that a face gives to every operation. */
export interface Desk extends Ports {
  readonly actor: Actor;
  /** Lowers the priority of the process, if possible. */
  readonly giveWay: () => void;
  readonly limits: Limits | undefined;
  readonly accounts: AccountTools;
  readonly targets: TargetTools;
  readonly uploads: Uploads;
  readonly statistics: StatisticsCache;
  readonly state: Readonly<ServiceState>;
  readonly currency: string | undefined;
  /** Runs long work. The service answers at once; a command waits until the work is done. */
  readonly goOn: (work: (ending: AbortSignal) => Promise<void>) => Promise<void>;
  /** Shows the progress of long work on a terminal. */
  readonly progress: (words: string) => void;
  /** Resolves early if the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Everything that an operation works with: the database, the outside, and the author. */
export interface Office extends Omit<Desk, "actor"> {
  readonly by: Attribution;
  readonly isPreview: boolean;
}

/** Makes the office for one call. */
export function officeOf<Of extends Pick<Desk, "actor" | "store" | "clock">>(
  { actor, ...desk }: Of,
  input: object = {},
) {
  const { preview, reason } = input as { readonly preview?: boolean; readonly reason?: string };
  const by = { author: actor.name, authority: actor.authority, at: desk.clock(), reason: reason?.trim() };
  return { ...desk, by, isPreview: preview === true };
}
