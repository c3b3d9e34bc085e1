interface HeldWrite {
  readonly write: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Holds back the answers that are ready in one turn of the event loop, and lets them go together at its end.
 * Written one by one, between the work for the next ones, each would wake its reader by itself, which costs
 * the machine more than the answer did. An answer that is alone leaves with the very turn that made it.
 */
export class TurnWrites {
  #held: HeldWrite[] = [];

  /**
   * @param write writes one answer.
   * @param onError hears of it where that throws: the others' answers go out all the same.
   */
  hold(write: () => void, onError: (error: unknown) => void): void {
    if (this.#held.push({ write, onError }) === 1) setImmediate(() => this.#release());
  }

  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const { write, onError } of held) {
      try {
        write();
      } catch (error) {
        onError(error);
      }
    }
  }
}
