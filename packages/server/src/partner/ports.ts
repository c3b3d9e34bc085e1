import type { PartnerTerms } from "../domain/account.ts";
import type { Environment } from "../domain/customer.ts";
import type { CountedLookUp, PartnerLimits } from "../domain/partner-limits.ts";
import type { Transaction } from "../domain/transaction.ts";
import type { Instant } from "../domain/wall-time.ts";
import { StoreContended, StoreUnavailable } from "../store/errors.ts";
import type * as store from "../store/ports.ts";
import type { ServiceState } from "../system/service-state.ts";
import type { TokenUses } from "./gathering.ts";

export interface Ports extends store.Ports {
  /** Undefined: no metrics. */
  readonly observer?: Observer | undefined;
  /** Undefined: failures to record top-ups are not tracked. */
  readonly recording?: Pick<Recording, "succeeded" | "failed"> | undefined;
  /** Undefined: the last use of tokens is not stored. */
  readonly tokenUses?: Pick<TokenUses, "note"> | undefined;
  /**
   * Counts a look-up in the whole service. Returns 0 if it may be answered, otherwise the milliseconds to wait. Undefined:
   * look-ups are not limited.
   */
  readonly countLookUp?: ((lookUp: CountedLookUp) => Promise<number>) | undefined;
}

/** The partner that sent a request. */
export interface Caller {
  readonly partnerId: number;
  readonly partnerName: string;
  readonly environment: Environment;
  /** Id of the access token; undefined in histories that topupd generates. */
  readonly tokenId: string | undefined;
  /** Undefined in histories that topupd generates. */
  readonly limits?: PartnerLimits;
  /** Undefined in histories that topupd generates. */
  readonly terms?: PartnerTerms;
  /** Name of the person who sells at the counter; undefined for the partner's programs. */
  readonly seller?: string;
}

/** Counts requests and top-ups after they are decided. Must be quick. */
export interface Observer {
  /**
   * @param operation undefined if the path is no operation.
   * @param caller undefined if no access token was admitted.
   * @param outcome `success`, `replayed`, the reason of the failure, or `gave_up` if the caller left before the whole
   *   answer was written.
   * @param seconds from the request's arrival to the end of its answer.
   */
  readonly requestAnswered: (
    operation: ServedOperation | undefined,
    caller: Caller | undefined,
    outcome: string,
    seconds: number,
  ) => void;
  /** Called once for each recorded top-up, not for replays. */
  readonly topUpRecorded: (transaction: Transaction) => void;
  /** @param failsSince when the store first failed to record a top-up; undefined if it records again. */
  readonly recordingChanged: (failsSince: Instant | undefined) => void;
}

/** An operation of one version: the same object for all its requests. */
export interface ServedOperation {
  readonly name: string;
  readonly version: string;
}

/** Calls an observer. Its errors are ignored: the request or top-up is already decided. */
export function tell(telling: () => void): void {
  try {
    telling();
  } catch {
    // Only the counts may be wrong.
  }
}

/** Tracks whether top-ups can be recorded. Replays and refusals do not count: they need no write. */
export class Recording {
  readonly #clock: () => Instant;
  readonly #state: ServiceState;
  readonly #onChange: (failure: string | undefined) => void;

  /** @param onChange called with the reason why top-ups fail, or with undefined when one succeeds again. */
  constructor(clock: () => Instant, state: ServiceState, onChange: (failure: string | undefined) => void) {
    this.#clock = clock;
    this.#state = state;
    this.#onChange = onChange;
  }

  /** Also clears a failure that another process reported. */
  succeeded(): void {
    if (this.#state.recordingFailsSince === undefined) return;
    this.#state.recordingFailsSince = undefined;
    this.#onChange(undefined);
  }

  failed(error: unknown): void {
    // A contended top-up waits for others, which are recorded.
    if (!(error instanceof StoreUnavailable) || error instanceof StoreContended) return;
    if (this.#state.recordingFailsSince !== undefined) return;
    this.#state.recordingFailsSince = this.#clock();
    this.#onChange(error.message);
  }
}
