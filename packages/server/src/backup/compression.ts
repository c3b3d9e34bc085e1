import { addAbortSignal, pipeline, Readable } from "node:stream";
import { crc32, createDeflateRaw, createGunzip } from "node:zlib";
import { BackupRefused } from "./errors.ts";
import { BEGINNING } from "./seal.ts";

/** The fastest: the longer a backup takes, the longer the database has to keep what it still looks at. */
const LEVEL = 1;
/** Of text that becomes a piece of the file: no line is longer, and memory stays flat. */
const LONGEST_LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * The lines as one part of a gzip file.
 * @param signal ends it with an error, also while a line is awaited.
 */
export async function* compress(lines: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let check = 0;
  let length = 0;
  const bytes = async function* () {
    for await (const line of lines) {
      const text = Buffer.from(`${line}\n`);
      check = crc32(text, check);
      length += text.length;
      yield text;
    }
  };
  yield BEGINNING;
  const deflate = addAbortSignal(signal, createDeflateRaw({ level: LEVEL }));
  // What fails in it is met by whoever reads it.
  yield* pipeline(Readable.from(bytes()), deflate, () => {}) as AsyncIterable<Uint8Array>;
  const end = Buffer.alloc(8);
  end.writeUInt32LE(check, 0);
  end.writeUInt32LE(length % 2 ** 32, 4);
  yield end;
}

/**
 * The lines that were compressed.
 * @throws BackupRefused where it was something else; what the pieces themselves reject with, as it is.
 */
export async function* decompress(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    for await (const line of splitLines(pipeline(Readable.from(pieces), createGunzip(), () => {}))) {
      yield text.decode(line);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!/^(?:Z_|ERR_ENCODING_)/.test(code)) throw error;
    throw new BackupRefused("cannot be unpacked", { cause: error });
  }
}

async function* splitLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...held, piece.subarray(from, end)]);
      held = [];
      heldBytes = 0;
      from = end + 1;
    }
    held.push(piece.subarray(from));
    heldBytes += piece.length - from;
    if (heldBytes > LONGEST_LINE_BYTES) throw new BackupRefused("holds a line that is longer than any topupd writes");
  }
  if (heldBytes > 0) throw new BackupRefused("ends in the midst of a line");
}
