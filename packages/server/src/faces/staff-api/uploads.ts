import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "./problems.ts";
import type { UploadedFile } from "./route.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Of a file that was sent. */
    letGoOfFile: (() => void) | undefined;
  }
}

const MOST_FILE_BYTES = 256 * 1024 * 1024;
/** A million rows, and a header. */
const MOST_FILE_LINES = 1_000_001;
/** What a person has on the disk at a time. */
const FILES_OF_A_PERSON = 2;
const NEWLINE = 0x0a;

const TOO_LARGE = "A file has at most 256 MiB and 1,000,000 rows: send it in parts.";
const TOO_MANY = "Two files of yours are under way: send this one when one of them is done.";

/** A file that has no name but to this process. */
export interface TemporaryFile {
  /** Resolves once all pieces are in it. */
  readonly write: (pieces: AsyncIterable<Uint8Array>) => Promise<void>;
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly remove: () => Promise<void>;
}

export interface ReceivingOptions {
  readonly createTemporaryFile: () => TemporaryFile;
  readonly mostBytes?: number | undefined;
  readonly mostLines?: number | undefined;
  /** Deletes the oldest file of a person that waits for that person's word. Resolves with whether there was one. */
  readonly makeRoom: (person: string) => Promise<boolean>;
  readonly onRemoveError: (error: unknown) => void;
}

/**
 * Has the bodies of requests, whatever their type, received as files. Each is there until its request is answered, or
 * longer; a person has at most two.
 */
export function receiveFiles(scope: FastifyInstance, options: ReceivingOptions): void {
  const files = new Map<TemporaryFile, string>();
  const { mostBytes = MOST_FILE_BYTES, mostLines = MOST_FILE_LINES } = options;
  const hasTwo = (person: string) =>
    [...files.values()].filter((owner) => owner === person).length >= FILES_OF_A_PERSON;
  scope.addHook("onClose", async () => {
    for (const file of files.keys()) await file.remove().catch(options.onRemoveError);
  });
  scope.decorateRequest("letGoOfFile", undefined);
  scope.addHook("onRequest", (request, reply, done) => {
    // Also where whoever asked has left.
    reply.raw.once("close", () => request.letGoOfFile?.());
    done();
  });
  scope.addHook("onResponse", (request, _reply, done) => {
    request.letGoOfFile?.();
    done();
  });
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", async (request: FastifyRequest, pieces: AsyncIterable<Uint8Array>) => {
    if (Number(request.headers["content-length"] ?? 0) > mostBytes) throw new Problem("too_large", TOO_LARGE);
    const person = request.identity?.name ?? "";
    // Another file of the person may take the room meanwhile.
    while (hasTwo(person) && (await options.makeRoom(person)));
    if (hasTwo(person)) throw new Problem("conflict", TOO_MANY);
    const file = options.createTemporaryFile();
    files.set(file, person);
    const holders = new Set<object>([request]);
    const letGo = async (holder: object) => {
      if (!holders.delete(holder) || holders.size > 0) return;
      files.delete(file);
      await file.remove().catch(options.onRemoveError);
    };
    request.letGoOfFile = () => void letGo(request);
    const hash = createHash("sha256");
    try {
      await file.write(measured(pieces, { mostBytes, mostLines }, (piece) => hash.update(piece)));
    } catch (error) {
      await letGo(request);
      const wasCutOff = !(error instanceof Problem) && !request.raw.complete;
      throw wasCutOff ? new Problem("invalid", "The file did not arrive whole.") : error;
    }
    return {
      ...named(request),
      digest: hash.digest(),
      open: file.open,
      keep: () => {
        const holder = {};
        holders.add(holder);
        return () => letGo(holder);
      },
    } satisfies UploadedFile;
  });
}

async function* measured(
  pieces: AsyncIterable<Uint8Array>,
  { mostBytes, mostLines }: { readonly mostBytes: number; readonly mostLines: number },
  onPiece: (piece: Uint8Array) => void,
) {
  let [bytes, lines] = [0, 0];
  for await (const piece of pieces) {
    bytes += piece.length;
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, end + 1)) lines += 1;
    if (bytes > mostBytes || lines > mostLines) throw new Problem("too_large", TOO_LARGE);
    onPiece(piece);
    yield piece;
  }
}

function named({ query, headers }: FastifyRequest): Pick<UploadedFile, "name" | "isCsv"> {
  const { name } = query as { readonly name?: unknown };
  const saysCsv = headers["content-type"]?.startsWith("text/csv") === true;
  if (typeof name !== "string" || name === "") return { name: saysCsv ? "file.csv" : "file.ndjson", isCsv: saysCsv };
  return { name, isCsv: saysCsv || name.toLowerCase().endsWith(".csv") };
}
