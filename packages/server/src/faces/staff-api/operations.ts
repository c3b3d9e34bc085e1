import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type TSchema, Type } from "typebox";
import type { AddressList } from "../../domain/address-list.ts";
import type { Target } from "../../domain/target.ts";
import type { Answers } from "./idempotency.ts";
import type { AdminPorts, Identity } from "./ports.ts";
import { Problem } from "./problems.ts";
import { type Route, type StreamedText, takesIdempotencyKey, type UploadedFile } from "./route.ts";
import { admit, admitReceiver, type OpenSockets, visitorOf } from "./security.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Permission of an API route. */
    readonly permission?: Route["permission"];
  }
  interface FastifyRequest {
    /** The caller, once admitted. */
    identity: Identity | undefined;
    /** The target of a route with the permission `target`, once admitted. */
    receiver: Target | undefined;
    /** Hash under which the answer is kept for its Idempotency-Key. */
    answerHash: Uint8Array | undefined;
    /** Code of the problem if the request was refused or failed. */
    outcome: string | undefined;
  }
}

export interface Serving {
  readonly ports: AdminPorts;
  readonly trustedProxies: AddressList | undefined;
  readonly answers: Answers;
  readonly sockets: OpenSockets;
}

/** Adds a route to the server: admission, checks, the work, and replay for an Idempotency-Key. */
export function addRoute(
  scope: FastifyInstance,
  route: Route,
  { ports, trustedProxies, answers, sockets }: Serving,
): void {
  const { method, path, permission, params, query, body, answer, status = answer === undefined ? 204 : 200 } = route;
  scope.route({
    method,
    url: path,
    config: { permission },
    ...(route.mostBytes !== undefined && { bodyLimit: route.mostBytes }),
    schema: {
      ...(params !== undefined && { params: closed(params) }),
      querystring: closed(query ?? NO_QUERY),
      ...(typeof body === "object" && { body: closed(body) }),
      ...(typeof answer === "object" && { response: { "2xx": answer } }),
    },
    async onRequest(request, reply) {
      if (permission === "target") request.receiver = await admitReceiver(ports, request);
      else request.identity = await admit(ports, route, request, trustedProxies);
      if (request.identity !== undefined) sockets.add(reply.raw, request.identity.authority);
      // PostgreSQL cannot store or look up NUL.
      if (request.url.includes("%00")) throw new Problem("invalid", "The address must not hold a NUL character.");
    },
    async preValidation(request) {
      if (typeof body === "object") request.body ??= {};
    },
    async preHandler(request, reply) {
      if (body === "file" && request.body === undefined) throw new Problem("invalid", "Send the file as the body.");
      const key = request.headers["idempotency-key"];
      if (key === undefined || request.identity === undefined || !takesIdempotencyKey(route)) return;
      const begun = await answers.begin(String(key), request.identity, partsOf(request, body === "file"));
      if (begun instanceof Uint8Array) request.answerHash = begun;
      else return sendAgain(reply, begun.status, begun.body);
    },
    async onSend(request, reply, payload) {
      const hash = request.answerHash;
      // After a 5xx it is unknown whether the change was made.
      if (hash === undefined || reply.statusCode >= 500) return;
      const isSecret = route.isSecret === true && reply.statusCode < 400;
      const body = typeof payload === "string" ? payload : "";
      await answers.keep(hash, reply.statusCode, isSecret ? undefined : body);
    },
    async handler(request, reply) {
      const done = await route.handle(ports, {
        identity: request.identity as Identity,
        receiver: request.receiver as Target,
        visitor: visitorOf(request, reply, ports, trustedProxies),
        params: request.params,
        query: request.query,
        body: request.body,
      });
      reply.code(route.otherStatuses?.find(({ isOf }) => isOf(done))?.code ?? status);
      if (answer === undefined) return reply.send();
      return answer === "csv" ? sendCsv(reply, done as StreamedText) : reply.send(done);
    },
  });
}

const NO_QUERY = Type.Object({});

/** Forbids unknown fields unless the schema allows them, so that a misspelt field is refused. */
export function closed(schema: TSchema): TSchema {
  if (!Type.IsObject(schema) || "additionalProperties" in schema) return schema;
  const { type: _type, properties, required: _required, ...rest } = schema;
  return Type.Object(properties, { ...rest, additionalProperties: false });
}

/** The parts that make two requests the same. */
function partsOf({ method, url, body }: FastifyRequest, isFile: boolean): readonly unknown[] {
  const what = isFile ? Buffer.from((body as UploadedFile).digest).toString("hex") : body;
  return [method, url, what ?? null];
}

function sendAgain(reply: FastifyReply, status: number, body: string): FastifyReply {
  reply.code(status).header("idempotent-replayed", "true");
  if (body === "") return reply.send();
  return reply.type(status < 400 ? "application/json; charset=utf-8" : "application/problem+json").send(body);
}

function sendCsv(reply: FastifyReply, { fileName, pieces }: StreamedText): FastifyReply {
  reply.header("content-disposition", `attachment; filename="${fileName.replace(/[^\w.-]/g, "_")}"`);
  return reply.type("text/csv; charset=utf-8").send(Readable.from(pieces));
}
