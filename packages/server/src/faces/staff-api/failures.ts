import type { FastifyBaseLogger, FastifyError, FastifyReply } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { problemsOf } from "../../office/input.ts";
import { plainly, Refused } from "../../office/refused.ts";
import { PasswordsBusy } from "../../office/staff/passwords.ts";
import { RightsEnded, StoreUnavailable } from "../../store/errors.ts";
import { PROBLEMS, Problem, problemBody } from "./problems.ts";

export const PROBLEM_TYPE = "application/problem+json; charset=utf-8";
const RETRY_AFTER_SECONDS = 1;
/** By then, all passwords that waited are checked. */
const BUSY_AFTER_SECONDS = 5;

/** Answers with what went wrong. What is nobody's fault but topupd's is logged. */
export function sendProblem(reply: FastifyReply, error: unknown, logger: FastifyBaseLogger): FastifyReply {
  const problem = problemOf(error as FastifyError);
  if (problem.code === "internal_error") logger.error({ err: error, route: routeOf(reply) }, "a request failed");
  if (problem.code === "unavailable" && error instanceof StoreUnavailable)
    logger.warn({ cause: error.message, route: routeOf(reply) }, "the store is not available");
  const { status } = PROBLEMS[problem.code];
  if (status === 401) reply.header("www-authenticate", "Bearer");
  if (problem.retryAfterSeconds !== undefined) reply.header("retry-after", problem.retryAfterSeconds);
  reply.request.outcome = problem.code;
  return reply.code(status).type(PROBLEM_TYPE).serializer(JSON.stringify).send(problemBody(problem));
}

function routeOf({ request }: FastifyReply): string | undefined {
  return request.routeOptions.url;
}

function problemOf(error: FastifyError | Problem): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Refused) return refusedProblem(error);
  if (error instanceof StoreUnavailable) return new Problem("unavailable", undefined, undefined, RETRY_AFTER_SECONDS);
  if (error instanceof PasswordsBusy)
    return new Problem(
      "too_many_attempts",
      "Too many log-ins are under way: try again.",
      undefined,
      BUSY_AFTER_SECONDS,
    );
  if (error instanceof RightsEnded) return new Problem("not_logged_in");
  if (error.statusCode === 413) return new Problem("too_large");
  // What fastify refuses by itself is a body that is no JSON.
  if (error.statusCode !== undefined && error.statusCode < 500) return new Problem("invalid", error.message);
  return new Problem("internal_error");
}

function refusedProblem({ code, words, problems }: Refused): Problem {
  const said = words(plainly);
  const detail = said === "" ? undefined : `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
  return new Problem(code, detail, problems.length === 0 ? undefined : problems);
}

type Check = (value: unknown) => { readonly value: unknown } | { readonly error: Error };

/** Checks a part of requests. What comes in a path or query is a text, and is read as what the schema asks for. */
export function compileCheck({ schema, httpPart }: { readonly schema: unknown; readonly httpPart?: string }): Check {
  const validator = Compile(schema as TSchema);
  return (given) => {
    // What fastify reads of a query has no prototype, and would be left as it is.
    const value = httpPart === "body" ? given : validator.Convert({ ...(given as object) });
    if (validator.Check(value)) return { value };
    return { error: new Refused("invalid", "", problemsOf(validator.Errors(value), schema as TSchema)) };
  };
}
