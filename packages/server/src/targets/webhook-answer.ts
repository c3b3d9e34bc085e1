import type { IncomingMessage } from "node:http";
import { promisesConfirmation } from "../domain/service-step.ts";
import { DeliveryFailed } from "../domain/target.ts";
import { AnswerBody } from "../system/http-client.ts";

const MOST_BYTES = 65_536;
/** Staff see what came by then. A slower rest does not delay the next event. */
const SHOWN_MS = 1_000;
const JSON_TYPE = /[/+]json\b/i;

/** The answer of a receiver. Its body is read to the end, so that the connection can be used again. */
export class WebhookAnswer {
  readonly #body: AnswerBody;
  readonly #isJson: boolean;

  constructor(response: IncomingMessage) {
    this.#body = new AnswerBody(response, MOST_BYTES);
    this.#isJson = JSON_TYPE.test(response.headers["content-type"] ?? "");
  }

  /** The text so far, without a byte order mark and blanks at its beginning. */
  get text(): string {
    // The last character may not be whole yet.
    return new TextDecoder().decode(this.#body.bytes, { stream: true }).trimStart();
  }

  /** Waits until the whole text is there, a second at most. */
  waitForText(): Promise<void> {
    return this.#body.until(() => false, AbortSignal.timeout(SHOWN_MS));
  }

  /**
   * Reads as much as decides whether the answer promises a confirmation. Only an object can, so it is read whole.
   * @param limit its reason is a DeliveryFailed.
   * @throws DeliveryFailed if a promise may be in what was not read.
   */
  async isPending(limit: AbortSignal): Promise<boolean> {
    await this.#body.until(() => this.text !== "", limit);
    if (this.text.startsWith("{")) {
      await this.#body.until(() => false, limit);
      this.#refuseUnread(limit);
      return promisesConfirmation(this.text);
    }
    if (this.text === "" && this.#isJson) this.#refuseUnread(limit);
    return false;
  }

  #refuseUnread(limit: AbortSignal): void {
    const { hasEnded, failure } = this.#body;
    if (hasEnded && failure === undefined) return;
    if (limit.aborted) {
      const { message } = limit.reason as DeliveryFailed;
      throw new DeliveryFailed(this.text === "" ? message : `${message}, only its beginning`);
    }
    if (failure !== undefined) throw new DeliveryFailed(failure.message, { isAnswer: true });
  }
}
