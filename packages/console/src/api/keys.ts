import { ApiProblem } from "./problem.ts";

/** Gives the same request the same Idempotency-Key until it is known what became of it, so that it is done once. */
export class RequestKeys {
  readonly #makeKey: () => string;
  #last: { readonly request: string; readonly key: string } | undefined;

  constructor(makeKey: () => string) {
    this.#makeKey = makeKey;
  }

  /** @param parts all that makes it the same request. */
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
