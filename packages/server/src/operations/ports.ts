import type { Instant } from "../domain/calendar.ts";
import type { Environment } from "../domain/customer.ts";
import type { Store } from "../store/store.ts";
import type { Observer } from "./observer.ts";

/** What every operation needs of the world. */
export interface Ports {
  readonly store: Store;
  readonly clock: () => Instant;
  /** So many bytes that nobody can guess. */
  readonly random: (bytes: number) => Uint8Array;
  /** Absent where nobody counts what the service does. */
  readonly observer?: Observer | undefined;
}

/** On whose behalf an operation runs. */
export interface Caller {
  readonly partnerId: number;
  readonly partnerName: string;
  readonly environment: Environment;
}
