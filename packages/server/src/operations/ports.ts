import type { Attribution } from "../domain/audit.ts";
import type { Instant } from "../domain/calendar.ts";
import type { Environment } from "../domain/customer.ts";
import type { ReasonedAttribution } from "../store/corrections.ts";
import type { Store } from "../store/store.ts";
import type { Observer } from "./observer.ts";
import type { Recording } from "./recording.ts";
import type { TokenUses } from "./token-uses.ts";

/** What every operation needs of the world. */
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

/** What operations of the provider's staff need beside that. */
export interface StaffPorts extends Ports {
  /** Who stands in the audit trail for what is changed. */
  readonly author: string;
}

/** What is said in the audit trail of a change that is made now. */
export function attributionOf({ author, clock }: StaffPorts, reason?: string): Attribution {
  return { author, at: clock(), reason };
}

/** The same, of a correction. */
export function reasoned({ author, clock }: StaffPorts, reason: string): ReasonedAttribution {
  return { author, at: clock(), reason };
}

/** On whose behalf an operation runs. */
export interface Caller {
  readonly partnerId: number;
  readonly partnerName: string;
  readonly environment: Environment;
}
