import type { FastifyInstance, FastifyRequest } from "fastify";
import { decodeUtf8, JsonSyntaxError, readJson } from "../../domain/json.ts";
import { BODY_TIMEOUT_MS } from "../../system/port-guard.ts";
import { Problem } from "./problems.ts";

/** Has JSON bodies received within their deadline, and read as partners' are: every key stands once. */
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

/** It stops reading without ending the socket, on which the refusal still goes out. */
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
    const cutOff = () => end(new Problem("invalid", "The body did not arrive whole."));
    pieces.on("data", take).on("end", () => end());
    pieces.on("error", cutOff).on("close", cutOff);
  });
}
