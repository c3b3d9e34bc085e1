import type { Instant } from "../../domain/wall-time.ts";
import { StoreContended, StoreUnavailable } from "../../store/errors.ts";

export interface RecordingOptions {
  readonly clock: () => Instant;
  /** Hears each change: why no top-up can be recorded, or undefined where one was again. */
  readonly onChange: (trouble: string | undefined) => void;
}

/**
 * Whether top-ups can be recorded, known by what became of the last ones. A replay or a refusal says nothing of it: the
 * store answers both without a write.
 */
export class Recording {
  readonly #options: RecordingOptions;
  #failsSince: Instant | undefined;

  constructor(options: RecordingOptions) {
    this.#options = options;
  }

  /** When the store first failed to record a top-up; undefined where it has recorded one since, or has not failed. */
  get failsSince(): Instant | undefined {
    return this.#failsSince;
  }

  succeeded(): void {
    if (this.#failsSince === undefined) return;
    this.#failsSince = undefined;
    this.#options.onChange(undefined);
  }

  failed(error: unknown): void {
    // Where one top-up only waits for others, those are recorded.
    if (!(error instanceof StoreUnavailable) || error instanceof StoreContended) return;
    if (this.#failsSince !== undefined) return;
    this.#failsSince = this.#options.clock();
    this.#options.onChange(error.message);
  }
}
