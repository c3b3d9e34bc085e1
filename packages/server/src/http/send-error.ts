import type { FastifyBaseLogger, FastifyError, FastifyReply } from "fastify";
import { StoreUnavailable } from "../store/errors.ts";
import { TOP_UP_OPERATION } from "./contract.ts";
import { type FailureReason, sendFailure } from "./failures.ts";
import { BodyRefused } from "./json-body.ts";

/** Answers a request that something was thrown for, unless its answer is on its way already. */
export type SendError = (error: unknown, reply: FastifyReply) => void;

export function errorSender(logger: FastifyBaseLogger): SendError {
  return (error, reply) => {
    const { request } = reply;
    if (request.isDecided) return;
    const reason = reasonOf(error);
    const requestId = request.id;
    if (reason === "internal_error") logger.error({ requestId, err: error }, "a request failed");
    if (reason === "unavailable")
      logger.warn({ requestId, cause: (error as Error).message }, "the store is unavailable");
    sendFailure(reply, reason, { isTopUp: request.routeOptions.url?.endsWith(`/${TOP_UP_OPERATION}`) === true });
  };
}

function reasonOf(error: unknown): FailureReason {
  if (error instanceof StoreUnavailable) return "unavailable";
  if (error instanceof BodyRefused) return error.reason;
  if (!(error instanceof Error)) return "internal_error";
  const { code, statusCode = 500 } = error as Partial<FastifyError>;
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return "unsupported_media_type";
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return "body_too_large";
  return statusCode < 500 ? "malformed_json" : "internal_error";
}
