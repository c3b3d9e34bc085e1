import { createHash } from "node:crypto";
import { addAbortSignal, pipeline, Readable } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";

/*
 * Lines in a gzip file, of which the last is a digest of all others: what was cut off, damaged or lost shows, also where
 * gzip's own check would not find it.
 */

/** The bytes of a file, from the first one on. */
export type Bytes = AsyncIterable<Uint8Array>;

/** A file that cannot be taken for a whole backup: the message goes on from the file's name. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
}

/** The fastest: the longer a backup takes, the longer the database has to keep what it still looks at. */
const LEVEL = 1;

/** @param signal ends it with an error, also while a line is awaited. */
export function packLines(lines: AsyncIterable<string>, signal: AbortSignal): Bytes {
  const gzip = addAbortSignal(signal, createGzip({ level: LEVEL }));
  // What fails in it is met by whoever reads it.
  return pipeline(Readable.from(sealed(lines)), gzip, () => {}) as Bytes;
}

/**
 * The lines that were packed. Until they have come to their end, nothing of them can be relied upon.
 * @throws BackupRefused where they are not whole, or not as they were written; what reading the file rejects with.
 */
export async function* unpackLines(file: Bytes): AsyncGenerator<string> {
  const hash = createHash("sha256");
  let last: string | undefined;
  for await (const line of gunzipLines(file)) {
    if (last !== undefined) {
      hash.update(`${last}\n`);
      yield last;
    }
    last = line;
  }
  if (last !== sealOf(hash.digest("hex"))) throw damaged();
}

async function* sealed(lines: AsyncIterable<string>): AsyncGenerator<string> {
  const hash = createHash("sha256");
  for await (const line of lines) {
    hash.update(`${line}\n`);
    yield `${line}\n`;
  }
  yield `${sealOf(hash.digest("hex"))}\n`;
}

function sealOf(sha256: string): string {
  return JSON.stringify({ sha256 });
}

async function* gunzipLines(file: Bytes): AsyncGenerator<string> {
  let rest = "";
  try {
    const texts = pipeline(Readable.from(file), createGunzip(), () => {}).setEncoding("utf8");
    for await (const text of texts as AsyncIterable<string>) {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error && String(error.code).startsWith("Z_"))) throw error;
    throw damaged(error);
  }
  if (rest !== "") throw damaged();
}

function damaged(cause?: unknown): BackupRefused {
  return new BackupRefused("is no whole backup of topupd: it is cut off, damaged or something else", { cause });
}
