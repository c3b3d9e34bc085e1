/** Accidental presses follow one another within this time: double clicks, and an Enter too many. */
export const PAUSE_MS = 700;

/** The pause before a press that is meant. */
export class Pause {
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins the pause anew. @returns whether it was over. */
  restart(): boolean {
    const wasOver = this.#isOver;
    this.#isOver = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isOver = true;
    }, PAUSE_MS);
    return wasOver;
  }
}
