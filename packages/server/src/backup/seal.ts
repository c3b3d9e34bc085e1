import { createHash } from "node:crypto";
import { BackupRefused } from "./errors.ts";

/*
 * gzip finds most damages by itself, but neither all in what it says beside the data nor an end that is missing
 * where a part ends by chance. So the last bytes of a backup are a digest of all before them, dressed as a second,
 * empty part of a gzip file: `gunzip` and its like read over it.
 */

/** A gzip header without time or system, and with a comment that ends with a zero. */
function gzipHeader(comment: string): Buffer {
  return Buffer.concat([Buffer.from("1f8b08100000000000ff", "hex"), Buffer.from(`${comment}\0`, "latin1")]);
}

/** What every backup begins with. */
export const BEGINNING = gzipHeader("topupd backup");

const SEAL_NAME = "sha256 ";
/** No data, by deflate, and what gzip counts of it. */
const NOTHING = Buffer.from("03000000000000000000", "hex");

/** Hands the pieces on, and the seal of all of them. */
export async function* seal(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
  yield sealOf(hash.digest("hex"));
}

/**
 * Hands on what was sealed. Only when it has come to its end is it known to be whole and unchanged.
 * @throws BackupRefused where it is not, at the latest after the last piece.
 */
export async function* unseal(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let beginning = Buffer.alloc(0);
  let held = Buffer.alloc(0);
  for await (const piece of pieces) {
    const all = Buffer.concat([held, piece]);
    const body = all.subarray(0, Math.max(0, all.length - SEAL_BYTES));
    held = all.subarray(body.length);
    if (body.length === 0) continue;
    if (beginning.length < BEGINNING.length) {
      beginning = Buffer.concat([beginning, body.subarray(0, BEGINNING.length - beginning.length)]);
      refuseOther(beginning);
    }
    hash.update(body);
    yield body;
  }
  if (beginning.length < BEGINNING.length) refuseOther(Buffer.concat([beginning, held]).subarray(0, BEGINNING.length));
  if (held.equals(sealOf(hash.digest("hex")))) return;
  throw new BackupRefused(
    held.subarray(0, SEAL_HEADER.length).equals(SEAL_HEADER)
      ? "is damaged: its bytes are not those that were written"
      : "is not a whole backup: its end is missing or damaged, or something follows it",
  );
}

function refuseOther(beginning: Buffer): void {
  if (!beginning.equals(BEGINNING.subarray(0, beginning.length)) || beginning.length === 0)
    throw new BackupRefused("is no backup of topupd");
}

function sealOf(digest: string): Buffer {
  return Buffer.concat([gzipHeader(`${SEAL_NAME}${digest}`), NOTHING]);
}

/** Up to the digest. */
const SEAL_HEADER = gzipHeader(SEAL_NAME).subarray(0, -1);
const SEAL_BYTES = sealOf(createHash("sha256").digest("hex")).length;
