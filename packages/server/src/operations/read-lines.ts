import { decodeUtf8 } from "../domain/json.ts";

/** A line of a file, or what is wrong with it as text. */
export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly text: undefined; readonly problem: string };

/** Far more than a customer with many connections takes, and what keeps memory flat for any file. */
export const LINE_MAX_BYTES = 256 * 1024;

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Splits bytes into lines and passes over blank ones. Holds the lines of one piece at a time, however large
 * the file; they come together, since to wait for each by itself takes longer than to find it.
 */
export async function* readLines(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes = LINE_MAX_BYTES,
): AsyncGenerator<readonly Line[]> {
  let number = 1;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let lines: Line[] = [];
  const hold = (bytes: Uint8Array) => {
    if (heldBytes <= maxBytes) held.push(bytes);
    heldBytes += bytes.length;
  };
  const flush = () => {
    const line = toLine(number, held, heldBytes, maxBytes);
    held = [];
    heldBytes = 0;
    number += 1;
    if (line !== undefined) lines.push(line);
  };
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      hold(piece.subarray(from, end));
      from = end + 1;
      flush();
    }
    hold(piece.subarray(from));
    if (lines.length > 0) yield lines;
    lines = [];
  }
  flush();
  if (lines.length > 0) yield lines;
}

function toLine(number: number, parts: readonly Uint8Array[], bytes: number, maxBytes: number): Line | undefined {
  if (bytes > maxBytes) return { number, text: undefined, problem: `is longer than ${maxBytes} bytes` };
  const text = decodeUtf8(parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts));
  if (text === undefined) return { number, text, problem: "is not UTF-8" };
  const content = number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  return content.trim() === "" ? undefined : { number, text: content };
}
