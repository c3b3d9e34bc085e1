import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { decodeUtf8, JsonSyntaxError, readJson } from "../../domain/json.ts";
import { BODY_TIMEOUT_MS } from "../../system/port-guard.ts";
import { Problem } from "./problems.ts";
import type { UploadedFile } from "./route.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Deletes the sent file, unless it is kept. */
    releaseFile: (() => void) | undefined;
  }
}

const MOST_FILE_BYTES = 256 * 1024 * 1024;
/** A million rows and a header. */
const MOST_FILE_LINES = 1_000_001;
/** Limit of a person's files on the disk. */
const FILES_OF_A_PERSON = 2;
const NEWLINE = 0x0a;

const TOO_LARGE = "A file can have at most 256 MiB and 1,000,000 rows: send it in parts.";
const TOO_MANY = "Two of your files are still in use: send this one when one of them is done.";

/** A file without a name, which only this process can open. */
export interface TemporaryFile {
  /** Resolves when all pieces are written. */
  readonly write: (pieces: AsyncIterable<Uint8Array>) => Promise<void>;
  readonly open: () => AsyncIterable<Uint8Array>;
  readonly remove: () => Promise<void>;
}

export interface ReceivingOptions {
  readonly createTemporaryFile: () => TemporaryFile;
  readonly mostBytes?: number | undefined;
  readonly mostLines?: number | undefined;
  /** Deletes the oldest file that waits for the person's decision. Resolves with false if there is none. */
  readonly makeRoom: (person: string) => Promise<boolean>;
  readonly onRemoveError: (error: unknown) => void;
}

/** Receives bodies of any type as files. A file is deleted when its request is answered, unless it is kept. */
export function receiveFiles(scope: FastifyInstance, options: ReceivingOptions): void {
  const files = new Map<TemporaryFile, string>();
  const { mostBytes = MOST_FILE_BYTES, mostLines = MOST_FILE_LINES } = options;
  const hasTwo = (person: string) =>
    [...files.values()].filter((owner) => owner === person).length >= FILES_OF_A_PERSON;
  scope.addHook("onClose", async () => {
    for (const file of files.keys()) await file.remove().catch(options.onRemoveError);
  });
  scope.decorateRequest("releaseFile", undefined);
  scope.addHook("onRequest", (request, reply, done) => {
    // The caller may close the connection before the answer.
    reply.raw.once("close", () => request.releaseFile?.());
    done();
  });
  scope.addHook("onResponse", (request, _reply, done) => {
    request.releaseFile?.();
    done();
  });
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", async (request: FastifyRequest, pieces: AsyncIterable<Uint8Array>) => {
    if (Number(request.headers["content-length"] ?? 0) > mostBytes) throw new Problem("too_large", TOO_LARGE);
    const person = request.identity?.name ?? "";
    // Another file of the person may arrive meanwhile.
    while (hasTwo(person) && (await options.makeRoom(person)));
    if (hasTwo(person)) throw new Problem("conflict", TOO_MANY);
    const file = options.createTemporaryFile();
    files.set(file, person);
    const holders = new Set<object>([request]);
    const release = async (holder: object) => {
      if (!holders.delete(holder) || holders.size > 0) return;
      files.delete(file);
      await file.remove().catch(options.onRemoveError);
    };
    request.releaseFile = () => void release(request);
    const hash = createHash("sha256");
    try {
      await file.write(measured(pieces, { mostBytes, mostLines }, (piece) => hash.update(piece)));
    } catch (error) {
      await release(request);
      const wasCutOff = !(error instanceof Problem) && !request.raw.complete;
      throw wasCutOff ? new Problem("invalid", "The file was cut off: send it again.") : error;
    }
    return {
      ...named(request),
      digest: hash.digest(),
      open: file.open,
      keep: () => {
        const holder = {};
        holders.add(holder);
        return () => release(holder);
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

/** Receives JSON bodies within a deadline. As for partners, no key may occur twice. */
export function receiveJson(scope: FastifyInstance): void {
  scope.addContentTypeParser("application/json", async (request: FastifyRequest, pieces: NodeJS.ReadableStream) => {
    const text = decodeUtf8(await readAll(pieces, request.routeOptions.bodyLimit));
    if (text === undefined) throw new Problem("invalid", "The body is not UTF-8.");
    try {
      readJson(text);
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw new Problem("invalid", `The body ${error.message}.`);
      throw error;
    }
    return JSON.parse(text) as unknown;
  });
}

/** Reads a body. On a problem it stops reading but keeps the socket open for the answer. */
function readAll(pieces: NodeJS.ReadableStream, mostBytes: number): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    const read: Buffer[] = [];
    let bytes = 0;
    const deadline = setTimeout(() => end(new Problem("too_slow")), BODY_TIMEOUT_MS);
    const end = (problem?: Problem) => {
      clearTimeout(deadline);
      pieces.removeListener("data", take);
      if (problem === undefined) resolve(Buffer.concat(read));
      else reject(problem);
    };
    const take = (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > mostBytes) end(new Problem("too_large"));
      else read.push(piece);
    };
    const onCutOff = () => end(new Problem("invalid", "The body was cut off: send it again."));
    pieces.on("data", take).on("end", () => end());
    pieces.on("error", onCutOff).on("close", onCutOff);
  });
}
