import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Result } from "../domain/failure.ts";
import type { Reading } from "../domain/fields.ts";
import type { JsonObject } from "../domain/json.ts";
import { listPackages } from "../operations/list-packages.ts";
import { lookUpCustomer } from "../operations/look-up-customer.ts";
import type { Caller, Ports } from "../operations/ports.ts";
import { queryTransaction } from "../operations/query-transaction.ts";
import { topUp } from "../operations/top-up.ts";
import { asError } from "./as-error.ts";
import { contractOf, type OperationContract } from "./contract.ts";
import { JSON_TYPE, NEVER_KEPT, sendFailure } from "./failures.ts";
import type { Envelope, Version } from "./versions/version.ts";

/** What carries an operation out. */
interface Carrying<Request, Answer> {
  readonly run: (caller: Caller, request: Request) => Promise<Result<Answer>>;
  /** Headers beside the envelope. */
  readonly headers?: (answer: Answer) => Record<string, string>;
}

/** Adds the four operations of one version. */
export function addOperations(app: FastifyInstance, version: Version, ports: Ports, lapsedDays: number): void {
  const { provider } = ports.store;
  const add = <Request, Answer>(
    { name, code, request: form, rendering }: OperationContract<Request, Answer>,
    { run, headers }: Carrying<Request, Answer>,
  ) => {
    const envelope = Type.Object({ success: Type.Boolean(), code: Type.String(), body: rendering.schema });
    const read = (body: JsonObject) => form.read(body, provider.currencyExponent);
    const answer = (reply: FastifyReply, result: Result<Answer>) => {
      if (reply.request.isDecided) return;
      if (!result.ok) {
        sendFailure(reply, result.refusal);
        return;
      }
      reply.header("cache-control", NEVER_KEPT);
      if (headers !== undefined) reply.headers(headers(result.value));
      const { render, serialize } = rendering;
      if (serialize !== undefined) {
        const whole = reply.getSerializationFunction("200") as unknown as (envelope: Envelope) => string;
        reply.header("content-type", JSON_TYPE).serializer((envelope: Envelope) => serialize(envelope, whole));
      }
      reply.send({ success: true, code, body: render(result.value, provider) });
    };
    // Called back, and not promised: for a promise, fastify would listen to the answer's end once more.
    app.post(`/${version.name}/${name}`, { schema: { response: { 200: envelope } } }, (request, reply) => {
      const reading = readRequest(request, reply, read);
      if (reading === undefined) return;
      run(request.caller as Caller, reading)
        .then((result) => answer(reply, result))
        .catch((reason: unknown) => {
          if (!request.isDecided) reply.send(asError(reason));
        });
    });
  };

  const contract = contractOf(version);
  add(contract.lookUp, { run: (caller, request) => lookUpCustomer(ports, caller, request) });
  add(contract.listing, { run: (caller, request) => listPackages(ports, caller, request, lapsedDays) });
  add(contract.topUp, {
    run: (caller, request) => topUp(ports, caller, request),
    headers: ({ replayed }) => (replayed ? { "idempotent-replayed": "true" } : {}),
  });
  add(contract.query, { run: (caller, request) => queryTransaction(ports, caller, request) });
}

/** The request's fields, or undefined after the failure has been sent. */
function readRequest<Request>(
  request: FastifyRequest,
  reply: FastifyReply,
  read: (body: JsonObject) => Reading<Request>,
): Request | undefined {
  // Without a body, no parser has run: there is no content type to go by either, or nothing to parse.
  if (request.body === undefined || request.body === null) {
    sendFailure(reply, request.headers["content-type"] === undefined ? "unsupported_media_type" : "malformed_json");
    return undefined;
  }
  const reading = read(request.body as JsonObject);
  if (reading.ok) return reading.value;
  sendFailure(reply, "invalid_field", { fields: reading.problems });
  return undefined;
}
