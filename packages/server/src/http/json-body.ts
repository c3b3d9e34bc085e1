import type { FastifyInstance } from "fastify";
import { decodeUtf8, isJsonObject, type JsonObject, JsonSyntaxError, readJson } from "../domain/json.ts";
import { isContradictory } from "./contradictory-header.ts";

/** A body that is not a JSON object in UTF-8. */
export class MalformedBody extends Error {
  override readonly name = "MalformedBody";
}

/** A body in another encoding than UTF-8, or compressed. */
export class UnsupportedBody extends Error {
  override readonly name = "UnsupportedBody";
}

/** Makes topupd's own strict reader the only one: bodies of any other type are refused. */
export function readBodiesAsJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const {
      "content-type": type = "",
      "content-encoding": encoding = "identity",
      "transfer-encoding": transfer = "chunked",
    } = request.headers;
    // Node takes the pieces apart, and leaves to others what is in them.
    const isPlain = encoding.toLowerCase() === "identity" && transfer.toLowerCase() === "chunked";
    if (!isPlain || !isUtf8(type) || isContradictory(request.raw, "content-type")) {
      done(new UnsupportedBody());
      return;
    }
    try {
      done(null, parseObject(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

function parseObject(bytes: Buffer): JsonObject {
  const text = decodeUtf8(bytes);
  try {
    const value = text === undefined ? undefined : readJson(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  throw new MalformedBody();
}

/** However often one is named: whoever names two leaves it open which is meant. */
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))/i;

function isUtf8(contentType: string): boolean {
  return !OTHER_CHARSET.test(contentType);
}
