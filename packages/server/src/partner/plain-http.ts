import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Instant } from "../domain/wall-time.ts";
import type { Answer } from "./answer.ts";
import { tokenIn } from "./call.ts";
import { BODY_MAX_BYTES } from "./failures.ts";
import { KEEP_ALIVE_TIMEOUT_MS } from "./pipeline.ts";

export interface PlainHead {
  readonly path: string;
  /** Length of the body in bytes. */
  readonly length: number;
  readonly token: string | undefined;
  readonly forwardedFor: string | undefined;
}

const REQUEST_LINE = /^POST (\/[!-~]*) HTTP\/1\.1$/;
/** A token, a colon, and printable ASCII with blanks around it. node:http accepts no tab after a length. */
const FIELD_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*((?:[!-~](?:[\t -~]*[!-~])?)?) *$/;
const PLAIN_LENGTH = /^[1-9][0-9]{0,3}$/;
const PLAIN_TYPE = /^application\/json(?:; ?charset="?utf-8"?)?$/i;

/** Headers that change how the rest of a request or connection is read. */
const UNUSUAL: ReadonlySet<string> = new Set([
  "content-encoding",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Recognises a head in the plain form that nearly all requests have. This is no parser: node:http reads every other head.
 * @param head bytes as Latin-1, without the blank line.
 */
export function recognise(head: string): PlainHead | undefined {
  const lines = head.split("\r\n");
  const path = REQUEST_LINE.exec(lines[0] as string)?.[1];
  if (path === undefined) return undefined;
  const fields = new Map<string, string>();
  for (let at = 1; at < lines.length; at += 1) {
    const [, written, value = ""] = FIELD_LINE.exec(lines[at] as string) ?? [];
    const name = written?.toLowerCase();
    if (name === undefined || fields.has(name) || UNUSUAL.has(name)) return undefined;
    fields.set(name, value);
  }
  const length = fields.get("content-length") ?? "";
  const isPlain =
    fields.has("host") &&
    PLAIN_TYPE.test(fields.get("content-type") ?? "") &&
    /^keep-alive$/i.test(fields.get("connection") ?? "keep-alive") &&
    PLAIN_LENGTH.test(length) &&
    Number(length) <= BODY_MAX_BYTES;
  if (!isPlain) return undefined;
  const token = tokenIn(fields.get("authorization"));
  return { path, length: Number(length), token, forwardedFor: fields.get("x-forwarded-for") };
}

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

  /** @param more headers of every answer on the path. @param isLast whether the socket ends with this answer. */
  write(
    socket: Socket,
    requestId: string,
    more: readonly string[],
    { status, headers, body }: Answer,
    isLast: boolean,
    onWritten: (error?: Error | null) => void = () => {},
  ): void {
    const length = Buffer.byteLength(body);
    const text = this.#headOf(requestId, more, status, headers, length, isLast) + body.toString();
    // Latin-1 strings are written without conversion.
    socket.write(text, length === body.length ? "latin1" : "utf8", onWritten);
  }

  /** Writes the head and half of the body, and destroys the socket. */
  writeHalf(socket: Socket, requestId: string, more: readonly string[], { status, headers, body }: Answer): void {
    const bytes = Buffer.from(body as string);
    const head = this.#headOf(requestId, more, status, headers, bytes.length, true);
    socket.write(head + bytes.toString("latin1", 0, bytes.length / 2), "latin1", () => socket.destroy());
  }

  #headOf(
    requestId: string,
    more: readonly string[],
    status: number,
    headers: readonly string[],
    length: number,
    isLast: boolean,
  ): string {
    return (
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nx-request-id: ${requestId}\r\n${linesOf(more)}${linesOf(headers)}` +
      `content-length: ${length}\r\nDate: ${this.#now()}\r\n${isLast ? LAST_LINES : KEPT_LINES}\r\n`
    );
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

/** The lines of each list of headers. There are few lists, each used for many answers. */
const written = new WeakMap<readonly string[], string>();

function linesOf(headers: readonly string[]): string {
  const known = written.get(headers);
  if (known !== undefined) return known;
  const lines = headers.map((each, index) => each + (index % 2 === 0 ? ": " : "\r\n")).join("");
  written.set(headers, lines);
  return lines;
}
