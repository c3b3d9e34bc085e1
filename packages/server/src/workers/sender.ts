import type { RecordedEvent } from "../domain/event.ts";

/** What takes events to one target. It is called for up to 32 connections at a time, and for each of them in order. */
export interface Sender {
  /**
   * Resolves once the target has the event.
   * @throws DeliveryFailed, with a reason for staff: it says nothing of what is stored or secret.
   */
  send(event: RecordedEvent, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The target did not take the event, or nobody knows whether it did. */
export class DeliveryFailed extends Error {
  override readonly name = "DeliveryFailed";
  /** Whether the target itself said so: it is there, and others may be taken. */
  readonly isAnswer: boolean;

  constructor(message: string, { isAnswer = false, ...options }: ErrorOptions & { readonly isAnswer?: boolean } = {}) {
    super(message, options);
    this.isAnswer = isAnswer;
  }
}

/** No attempt takes longer. */
export const SENDING_LIMIT_MS = 15_000;
