import { ApiProblem } from "./problem.ts";

/** Repeats the Idempotency-Key of a request until its outcome is known, so that the change is made only once. */
export class RequestKeys {
  readonly #makeKey: () => string;
  #last: { readonly request: string; readonly key: string } | undefined;

  constructor(makeKey: () => string) {
    this.#makeKey = makeKey;
  }

  /** @param parts all values that identify the request. */
  async send<Answer>(parts: unknown, send: (key: string) => Promise<Answer>): Promise<Answer> {
    const request = JSON.stringify(parts);
    if (this.#last?.request !== request) this.#last = { request, key: this.#makeKey() };
    try {
      const answer = await send(this.#last.key);
      this.#last = undefined;
      return answer;
    } catch (error) {
      const isKnown = error instanceof ApiProblem && !error.mayBeDone && !error.isCutOff;
      if (isKnown) this.#last = undefined;
      throw error;
    }
  }
}
