import type { FastifyInstance } from "fastify";
import { decodeUtf8, isJsonObject, type JsonObject, JsonSyntaxError, readJson } from "../domain/json.ts";

/** A body that is no JSON object in UTF-8; or one in another encoding, or compressed. */
export class BodyRefused extends Error {
  override readonly name = "BodyRefused";
  readonly reason: "malformed_json" | "unsupported_media_type";

  constructor(reason: BodyRefused["reason"]) {
    super(reason);
    this.reason = reason;
  }
}

const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))/i;

/** Makes topupd's own strict reader the only one: bodies of any other type are refused. */
export function readBodiesAsJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const { "content-type": type = "", "content-encoding": encoding = "identity" } = request.headers;
    if (encoding.toLowerCase() !== "identity" || OTHER_CHARSET.test(type)) {
      done(new BodyRefused("unsupported_media_type"));
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
  throw new BodyRefused("malformed_json");
}
