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

const MOST_FILE_BYTES = 512 * 1024 * 1024;

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
  readonly onRemoveError: (error: unknown) => void;
}

/** Has the bodies of requests, whatever their type, received as files. Each is there until its request is answered, or longer. */
export function receiveFiles(scope: FastifyInstance, options: ReceivingOptions): void {
  const files = new Set<TemporaryFile>();
  scope.addHook("onClose", async () => {
    for (const file of files) await file.remove().catch(options.onRemoveError);
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
    const mostBytes = options.mostBytes ?? MOST_FILE_BYTES;
    if (Number(request.headers["content-length"] ?? 0) > mostBytes) throw new Problem("too_large");
    const file = options.createTemporaryFile();
    files.add(file);
    const holders = new Set<object>([request]);
    const letGo = async (holder: object) => {
      if (!holders.delete(holder) || holders.size > 0) return;
      files.delete(file);
      await file.remove().catch(options.onRemoveError);
    };
    request.letGoOfFile = () => void letGo(request);
    const hash = createHash("sha256");
    try {
      await file.write(measured(pieces, mostBytes, (piece) => hash.update(piece)));
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

async function* measured(pieces: AsyncIterable<Uint8Array>, most: number, onPiece: (piece: Uint8Array) => void) {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > most) throw new Problem("too_large");
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
