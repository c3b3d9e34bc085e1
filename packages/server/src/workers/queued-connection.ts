import type { RecordedEvent } from "../domain/event.ts";
import type { WaitingDelivery } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";

/** An event to send now. */
export interface Attempt {
  readonly event: RecordedEvent;
  readonly connection: QueuedConnection;
  readonly isRetry: boolean;
  /** 1 for the first attempt of the event. */
  readonly number: number;
}

export interface QueuedConnection {
  readonly name: string;
  /** Events not tried yet, in order. */
  readonly fresh: RecordedEvent[];
  /** Failed events and, if a target gets all, the events behind them, in order. */
  readonly waiting: Waiting[];
  isUnderWay: boolean;
}

interface Waiting {
  row: WaitingDelivery;
  readonly at: Instant;
}
