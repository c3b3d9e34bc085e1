import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Result } from "../domain/failure.ts";
import type { Reading } from "../domain/fields.ts";
import { decodeUtf8, isJsonObject, type JsonObject, JsonSyntaxError, readJson } from "../domain/json.ts";
import { listPackages } from "../services/partner/list-packages.ts";
import { lookUpCustomer } from "../services/partner/look-up-customer.ts";
import { queryTransaction } from "../services/partner/query-transaction.ts";
import { topUp } from "../services/partner/top-up.ts";
import type { Caller, Ports } from "../services/ports.ts";
import { contractOf, type OperationContract } from "./contract.ts";
import { JSON_TYPE, NEVER_KEPT, type SendError, sendFailure } from "./failures.ts";
import type { Envelope, Version } from "./versions/version.ts";

interface OperationOptions {
  readonly ports: Ports;
  /** For how many days a subscription that has ended stays listed. */
  readonly lapsedDays: number;
  readonly sendError: SendError;
}

/** Adds the four operations of one version. */
export function addOperations(
  app: FastifyInstance,
  version: Version,
  { ports, lapsedDays, sendError }: OperationOptions,
): void {
  const { currencyExponent } = ports.store.provider;
  const add = <Request, Answer>(
    { name, code, request: form, rendering }: OperationContract<Request, Answer>,
    run: (caller: Caller, request: Request) => Promise<Result<Answer>>,
    isReplay?: (answer: Answer) => boolean,
  ) => {
    const { render, serialize } = rendering;
    const read = (body: JsonObject) => form.read(body, currencyExponent);
    const answer = (reply: FastifyReply, result: Result<Answer>) => {
      if (reply.request.isDecided) return;
      if (!result.ok) {
        sendFailure(reply, result.refusal);
        return;
      }
      reply.header("cache-control", NEVER_KEPT).header("content-type", JSON_TYPE);
      if (isReplay?.(result.value) === true) reply.header("idempotent-replayed", "true");
      if (serialize !== undefined) {
        const whole = reply.getSerializationFunction("200") as unknown as (envelope: Envelope) => string;
        reply.serializer((envelope: Envelope) => serialize(envelope, whole));
      }
      reply.send({ success: true, code, body: render(result.value, currencyExponent) });
    };
    const schema = Type.Object({ success: Type.Boolean(), code: Type.String(), body: rendering.schema });
    // Called back, and not promised: for a promise, fastify would listen to the answer's end once more.
    app.post(`/${version.name}/${name}`, { schema: { response: { 200: schema } } }, (request, reply) => {
      const reading = readRequest(request, reply, read);
      if (reading === undefined) return;
      run(request.caller as Caller, reading)
        .then((result) => answer(reply, result))
        .catch((error: unknown) => sendError(error, reply));
    });
  };

  const contract = contractOf(version);
  add(contract.lookUp, (caller, request) => lookUpCustomer(ports, caller, request));
  add(contract.listing, (caller, request) => listPackages(ports, caller, request, lapsedDays));
  add(
    contract.topUp,
    (caller, request) => topUp(ports, caller, request),
    ({ replayed }) => replayed,
  );
  add(contract.query, (caller, request) => queryTransaction(ports, caller, request));
}

/** The request's fields, or undefined after the failure has been sent. */
function readRequest<Request>(
  request: FastifyRequest,
  reply: FastifyReply,
  read: (body: JsonObject) => Reading<Request>,
): Request | undefined {
  if (request.body === undefined || request.body === null) {
    sendFailure(reply, isPlainJson(request) ? "malformed_json" : "unsupported_media_type");
    return undefined;
  }
  const reading = read(request.body as JsonObject);
  if (reading.ok) return reading.value;
  sendFailure(reply, "invalid_field", { fields: reading.problems });
  return undefined;
}

/** Makes topupd's own strict reader the only one. What it cannot read is no body: {@link readRequest} says why. */
export function readBodiesAsJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    done(null, isPlainJson(request) ? parseObject(body as Buffer) : undefined);
  });
}

const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))/i;

/** Whether a body is said to be JSON in UTF-8 that is not compressed: no parser takes another type. */
function isPlainJson({ headers }: FastifyRequest): boolean {
  const { "content-type": type, "content-encoding": encoding = "identity" } = headers;
  return type !== undefined && encoding.toLowerCase() === "identity" && !OTHER_CHARSET.test(type);
}

function parseObject(bytes: Buffer): JsonObject | undefined {
  const text = decodeUtf8(bytes);
  try {
    const value = text === undefined ? undefined : readJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}
