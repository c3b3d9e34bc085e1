/** Requests of one partner that wait in this process. */
export const MOST_WAITING = 10;

/** Lets a partner have one list read at a time: a page can read the top-ups of all partners of a day. */
export class Turns {
  readonly #waiting = new Map<number, { count: number; last: Promise<unknown> }>();

  /** @returns undefined if too many of the partner's requests wait. */
  take<Result>(partnerId: number, work: () => Promise<Result>): Promise<Result> | undefined {
    const own = this.#waiting.get(partnerId) ?? { count: 0, last: Promise.resolve() };
    if (own.count >= MOST_WAITING) return undefined;
    own.count += 1;
    this.#waiting.set(partnerId, own);
    const result = own.last.then(work).finally(() => {
      own.count -= 1;
      if (own.count === 0) this.#waiting.delete(partnerId);
    });
    own.last = result.catch(() => {});
    return result;
  }
}
