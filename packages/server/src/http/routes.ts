import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Result } from "../domain/failure.ts";
import type { Reading } from "../domain/fields.ts";
import type { JsonObject } from "../domain/json.ts";
import { listPackages } from "../operations/list-packages.ts";
import { lookUpCustomer } from "../operations/look-up-customer.ts";
import type { Caller, Ports } from "../operations/ports.ts";
import { queryTransaction } from "../operations/query-transaction.ts";
import { type TopUpAnswer, topUp } from "../operations/top-up.ts";
import { asError } from "./as-error.ts";
import { JSON_TYPE, sendFailure } from "./failures.ts";
import { readLookUp, readPackagesRequest, readTopUp, readTransactionQuery } from "./requests.ts";
import type { Envelope, Rendering, Version } from "./versions/version.ts";

/** Success codes (interface, section 7). */
const LOOKED_UP = "400aa010";
const SETTLED = "400ab001";

export const TOP_UP_OPERATION = "subscription-package-topup";

/** One operation of one version: its path, how its request is read, what runs, how the answer looks. */
interface Operation<Request, Answer> {
  readonly path: string;
  readonly code: string;
  readonly read: (body: JsonObject) => Reading<Request>;
  readonly run: (caller: Caller, request: Request) => Promise<Result<Answer>>;
  readonly rendering: Rendering<Answer>;
  /** Headers beside the envelope. */
  readonly headers?: (answer: Answer) => Record<string, string>;
}

/** Adds the four operations of one version (interface, section 4). */
export function addOperations(app: FastifyInstance, version: Version, ports: Ports, lapsedDays: number): void {
  const { provider } = ports.store;
  const add = <Request, Answer>(operation: Operation<Request, Answer>) => {
    const { path, code, read, run, rendering, headers } = operation;
    const envelope = Type.Object({ success: Type.Boolean(), code: Type.String(), body: rendering.schema });
    const answer = (reply: FastifyReply, result: Result<Answer>) => {
      if (!result.ok) {
        sendFailure(reply, result.refusal);
        return;
      }
      if (headers !== undefined) reply.headers(headers(result.value));
      const { render, serialize } = rendering;
      if (serialize !== undefined) {
        const whole = reply.getSerializationFunction("200") as unknown as (envelope: Envelope) => string;
        reply.header("content-type", JSON_TYPE).serializer((envelope: Envelope) => serialize(envelope, whole));
      }
      reply.send({ success: true, code, body: render(result.value, provider) });
    };
    // Called back, and not promised: for a promise, fastify would listen to the answer's end once more.
    app.post(`/${version.name}/${path}`, { schema: { response: { 200: envelope } } }, (request, reply) => {
      const reading = readRequest(request, reply, read);
      if (reading === undefined) return;
      run(request.caller as Caller, reading)
        .then((result) => answer(reply, result))
        .catch((reason: unknown) => reply.send(asError(reason)));
    });
  };

  add({
    path: "get-customer-information",
    code: LOOKED_UP,
    read: readLookUp,
    run: (caller, request) => lookUpCustomer(ports, caller, request),
    rendering: version.customerInformation,
  });
  add({
    path: "get-subscription-package",
    code: LOOKED_UP,
    read: readPackagesRequest,
    run: (caller, request) => listPackages(ports, caller, request, lapsedDays),
    rendering: version.packages,
  });
  add({
    path: TOP_UP_OPERATION,
    code: SETTLED,
    read: (body) => readTopUp(body, provider.currencyExponent, version.freeFields),
    run: (caller, request) => topUp(ports, caller, request),
    rendering: {
      schema: version.transaction.schema,
      render: ({ transaction }: TopUpAnswer) => version.transaction.render(transaction, provider),
    },
    headers: ({ replayed }) => (replayed ? { "idempotent-replayed": "true" } : {}),
  });
  add({
    path: "txn-status",
    code: SETTLED,
    read: readTransactionQuery,
    run: (caller, request) => queryTransaction(ports, caller, request),
    rendering: version.transaction,
  });
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
