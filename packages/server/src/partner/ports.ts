import type { Environment } from "../domain/customer.ts";
import type { Transaction } from "../domain/top-up.ts";
import type { Instant } from "../domain/wall-time.ts";
import { StoreContended, StoreUnavailable } from "../store/errors.ts";
import type * as store from "../store/ports.ts";
import type { ServiceState } from "../system/service-state.ts";
import type { TokenUses } from "./gathering.ts";

/** What serving partners needs of the world. */
export interface Ports extends store.Ports {
  /** Undefined if nothing is counted. */
  readonly observer?: Observer | undefined;
  /** Undefined if nobody asks whether top-ups can be recorded. */
  readonly recording?: Pick<Recording, "succeeded" | "failed"> | undefined;
  /** Undefined if the last use of tokens is not stored. */
  readonly tokenUses?: Pick<TokenUses, "note"> | undefined;
}

/** The partner that sent a request. */
export interface Caller {
  readonly partnerId: number;
  readonly partnerName: string;
  readonly environment: Environment;
  /** Of the access token; undefined for histories that topupd makes itself. */
  readonly tokenId: string | undefined;
}

/**
 * Hears what the service does, so that it can be counted. It is called for every request and every top-up, after they
 * are decided, and is quick.
 */
export interface Observer {
  /**
   * @param operation undefined where the path is none of an operation's.
   * @param caller undefined where no access token was admitted.
   * @param outcome `success`, `replayed`, the reason of the failure, or `gave_up` where the caller left before the
   *   whole answer was written.
   * @param seconds from the request's arrival to the end of its answer.
   */
  readonly requestAnswered: (
    operation: ServedOperation | undefined,
    caller: Caller | undefined,
    outcome: string,
    seconds: number,
  ) => void;
  /** Once for each top-up that was recorded: for a replay, it is not called. */
  readonly topUpRecorded: (transaction: Transaction) => void;
  /** @param failsSince when the store first failed to record a top-up; undefined where it has recorded one again. */
  readonly recordingChanged: (failsSince: Instant | undefined) => void;
}

/** An operation of one version; the same object for all of its requests. */
export interface ServedOperation {
  /** As the path has it. */
  readonly name: string;
  readonly version: string;
}

/** Tells an observer something. Should it fail, what it was told of has happened all the same. */
export function tell(telling: () => void): void {
  try {
    telling();
  } catch {
    // Counts may be wrong then; nothing else is.
  }
}

/**
 * Whether top-ups can be recorded, known by what became of the last ones. A replay or a refusal says nothing of it: the
 * store answers both without a write.
 */
export class Recording {
  readonly #clock: () => Instant;
  readonly #state: ServiceState;
  readonly #onChange: (failure: string | undefined) => void;

  /** @param onChange gets why no top-up can be recorded, or undefined once one was again. */
  constructor(clock: () => Instant, state: ServiceState, onChange: (failure: string | undefined) => void) {
    this.#clock = clock;
    this.#state = state;
    this.#onChange = onChange;
  }

  /** Also ends what other processes have met. */
  succeeded(): void {
    if (this.#state.recordingFailsSince === undefined) return;
    this.#state.recordingFailsSince = undefined;
    this.#onChange(undefined);
  }

  failed(error: unknown): void {
    // Where one top-up only waits for others, those are recorded.
    if (!(error instanceof StoreUnavailable) || error instanceof StoreContended) return;
    if (this.#state.recordingFailsSince !== undefined) return;
    this.#state.recordingFailsSince = this.#clock();
    this.#onChange(error.message);
  }
}
