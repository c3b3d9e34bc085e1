import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Something that is the same for everybody. */
export interface Resource {
  readonly type: string;
  /** Asked for once, by the first who wants it. */
  readonly load: () => Promise<Buffer> | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Loaded {
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly etag: string;
}

/**
 * Serves a resource from memory. Never from a stream: of requests that were sent one behind the other on a connection
 * which then breaks, Node leaves those waiting as they are, and each would keep its file open for ever.
 */
export function serveResource(app: FastifyInstance, url: string, resource: Resource): void {
  let loading: Promise<Loaded> | undefined;
  const loaded = () => {
    loading ??= load(resource).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  app.get(url, async (request, reply) => answer(request, reply, resource, await loaded()));
}

async function load(resource: Resource): Promise<Loaded> {
  const plain = await resource.load();
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { plain, zipped: await promisify(gzip)(plain), etag };
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, headers = {} }: Resource,
  { plain, zipped, etag }: Loaded,
): FastifyReply {
  reply.headers({ "content-type": type, etag, vary: "accept-encoding", "cache-control": "no-cache", ...headers });
  if (request.headers["if-none-match"]?.includes(etag) === true) return reply.code(304).send();
  if (!/\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""))) return reply.send(plain);
  return reply.header("content-encoding", "gzip").send(zipped);
}
