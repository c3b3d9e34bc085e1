import * as http from "node:http";
import * as https from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";

/* Requests to servers of others, whose answers may be endless. */

/** Informational answers (1xx) before the final one, and the bytes of their heads. Node limits neither. */
const MOST_INFORMATION = 16;
const MOST_INFORMATION_BYTES = 16_384;
const BROKE_OFF = "the answer broke off";

/** An answer that cannot be used. Its message is fixed. */
export class AnswerFailed extends Error {
  override readonly name = "AnswerFailed";
}

/**
 * Sends a request, and follows no redirect.
 * @returns the final answer, once its head is there.
 * @throws AnswerFailed if too much comes before the final answer; otherwise the error of the socket or the signal.
 */
export function requestOnce(
  url: URL,
  options: http.RequestOptions,
  body: string | Uint8Array = "",
): Promise<http.IncomingMessage> {
  const { request } = url.protocol === "https:" ? https : http;
  let count = 0;
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const sent = request(url, options)
      .on("information", ({ statusMessage, rawHeaders }) => {
        count += 1;
        bytes += statusMessage.length + rawHeaders.join("").length;
        if (count > MOST_INFORMATION) sent.destroy(new AnswerFailed("more than 16 informational answers (1xx)"));
        if (bytes > MOST_INFORMATION_BYTES)
          sent.destroy(new AnswerFailed("more than 16 KiB of informational answers (1xx)"));
      })
      .on("response", resolve)
      .on("error", reject);
    sent.end(body);
  });
}

/** The body of an answer as it comes, until its end or a limit. */
export class AnswerBody {
  readonly #mostBytes: number;
  readonly #chunks: Uint8Array[] = [];
  readonly #waiting = new Set<() => void>();
  #bytes = 0;
  #hasEnded = false;
  #failure: AnswerFailed | undefined;

  /** @param mostBytes after decoding. A longer body closes the connection. */
  constructor(answer: http.IncomingMessage, mostBytes: number) {
    this.#mostBytes = mostBytes;
    const { "content-encoding": encoding = "identity" } = answer.headers;
    const body = decoded(answer, encoding.trim().toLowerCase());
    if (body === undefined) {
      this.#end("the answer has an unknown Content-Encoding");
      answer.on("error", () => {}).destroy();
      return;
    }
    body
      .on("data", (chunk: Uint8Array) => this.#add(chunk, body))
      .on("end", () => this.#end())
      .on("error", (error) => this.#end(problemOf(error, answer, body)))
      .on("close", () => this.#end(BROKE_OFF));
  }

  /** Whether nothing more comes. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Why the rest of the body is missing; undefined if nothing is missing, or the body has not ended. */
  get failure(): AnswerFailed | undefined {
    return this.#failure;
  }

  /** The decoded bytes so far. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Resolves once the bytes so far are enough, the body has ended, or the signal is aborted. */
  until(isEnough: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!this.#hasEnded && !signal.aborted && !isEnough()) return;
        this.#waiting.delete(look);
        signal.removeEventListener("abort", look);
        resolve();
      };
      this.#waiting.add(look);
      signal.addEventListener("abort", look);
      look();
    });
  }

  #add(chunk: Uint8Array, body: Readable): void {
    if (this.#hasEnded) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#mostBytes) {
      this.#end(`the answer is longer than ${this.#mostBytes / 1024} KiB`);
      body.destroy();
    } else {
      this.#chunks.push(chunk);
      this.#look();
    }
  }

  /** The first end counts. */
  #end(failure?: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (failure !== undefined) this.#failure = new AnswerFailed(failure);
    this.#look();
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}

/** A body; `bytesWritten` is what a decoder got. */
type Body = Readable & { readonly bytesWritten?: number };

/** @returns the body without its Content-Encoding; undefined if that is unknown. */
function decoded(answer: http.IncomingMessage, encoding: string): Body | undefined {
  if (encoding === "identity" || encoding === "") return answer;
  const decoder = decoderOf(encoding);
  if (decoder === undefined) return undefined;
  return pipeline(answer, decoder, () => {});
}

function decoderOf(encoding: string) {
  if (encoding === "br") return createBrotliDecompress();
  // Detects which of the two it is.
  return ["gzip", "x-gzip", "deflate"].includes(encoding) ? createUnzip() : undefined;
}

/** Why a body is not whole; undefined if it is: an empty body was not encoded. */
function problemOf(error: Error, answer: http.IncomingMessage, { bytesWritten }: Body): string | undefined {
  if (!answer.complete) return BROKE_OFF;
  if ((error as { readonly code?: string }).code !== "Z_BUF_ERROR") return "the answer cannot be decoded";
  return bytesWritten === 0 ? undefined : BROKE_OFF;
}
