import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Instant } from "../domain/wall-time.ts";
import type { Answer } from "./call.ts";
import { KEEP_ALIVE_TIMEOUT_MS } from "./pipeline.ts";

const LAST_LINES = "Connection: close\r\n";
const KEPT_LINES = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_TIMEOUT_MS / 1000}\r\n`;

/** Writes answers as node:http does. */
export class AnswerText {
  readonly #clock: () => Instant;
  #date = "";
  #dateAt = Number.NaN;

  constructor(clock: () => Instant) {
    this.#clock = clock;
  }

  /** @param more of every answer on the path. @param isLast whether the socket ends with it. */
  write(
    socket: Socket,
    requestId: string,
    more: readonly string[],
    { status, headers, body }: Answer,
    isLast: boolean,
    onWritten: (error?: Error | null) => void = () => {},
  ): void {
    const length = Buffer.byteLength(body);
    const text =
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nx-request-id: ${requestId}\r\n${linesOf(more)}${linesOf(headers)}` +
      `content-length: ${length}\r\nDate: ${this.#now()}\r\n${isLast ? LAST_LINES : KEPT_LINES}\r\n${body.toString()}`;
    // Plain ASCII goes out as it lies in memory.
    socket.write(text, length === body.length ? "latin1" : "utf8", onWritten);
  }

  #now(): string {
    const now = this.#clock();
    if (!(now >= this.#dateAt && now < this.#dateAt + 1000)) {
      this.#dateAt = now - (now % 1000);
      this.#date = new Date(now).toUTCString();
    }
    return this.#date;
  }
}

/** There are few lists of headers, and each is used for many answers. */
const written = new WeakMap<readonly string[], string>();

function linesOf(headers: readonly string[]): string {
  const known = written.get(headers);
  if (known !== undefined) return known;
  const lines = headers.map((each, index) => each + (index % 2 === 0 ? ": " : "\r\n")).join("");
  written.set(headers, lines);
  return lines;
}
