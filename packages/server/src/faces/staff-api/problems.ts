import type { FastifyBaseLogger, FastifyError, FastifyReply } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { FieldProblem } from "../../domain/fields.ts";
import { PasswordsBusy } from "../../domain/passwords.ts";
import { plainly, Refused } from "../../domain/refused.ts";
import { problemsOf } from "../../office/input.ts";
import { RightsEnded, StoreUnavailable } from "../../store/errors.ts";

interface ProblemKind {
  readonly status: number;
  /** The problem in words. The detail of an occurrence may say more. */
  readonly title: string;
}

/** Every failure that the staff API answers with, as `application/problem+json` (RFC 9457). */
export const PROBLEMS = {
  not_logged_in: { status: 401, title: "Log in, or send a staff API key as Authorization: Bearer" },
  wrong_credentials: { status: 401, title: "The name, the password or the code is wrong" },
  code_required: { status: 401, title: "A one-time code is required with the password" },
  wrong_password: { status: 403, title: "This is not your own password: try again" },
  password_off: { status: 403, title: "Log-in by password is switched off: log in with OpenID Connect" },
  log_in_again: {
    status: 403,
    title: "Log in with OpenID Connect again: this needs a log-in of the last five minutes",
  },
  forbidden: { status: 403, title: "Your role does not allow this" },
  set_up_first: { status: 403, title: "Set your account up first" },
  cross_site: { status: 403, title: "The request comes from a page of another site" },
  unknown_host: { status: 421, title: "The console does not know this host name: add it to --console-names" },
  sessions_only: { status: 403, title: "Only people who are logged in can do this, not keys" },
  not_found: { status: 404, title: "Not found" },
  conflict: { status: 409, title: "Not possible in this state" },
  own_account: {
    status: 409,
    title: "You cannot remove yourself or change your role: ask another admin. Use /session for your own account",
  },
  answer_unknown: {
    status: 409,
    title: "A request with this Idempotency-Key is running or was cut off: check what it did",
  },
  already_answered: {
    status: 409,
    title: "This Idempotency-Key was answered; its answer is secret or too long, and is not shown again",
  },
  key_reused: { status: 422, title: "This Idempotency-Key was used for another request" },
  invalid: { status: 422, title: "The request is not valid" },
  too_large: { status: 413, title: "The body is too large" },
  too_many_keys: {
    status: 429,
    title: "You have used too many Idempotency-Keys within a day: send the request without one",
  },
  too_slow: { status: 408, title: "The body took longer than 10 seconds to arrive" },
  too_many_look_ups: { status: 429, title: "You have looked up too many new customers: try again later" },
  too_many_attempts: { status: 429, title: "Too many log-ins have failed or are running: try again later" },
  internal_error: { status: 500, title: "topupd failed" },
  unavailable: { status: 503, title: "The database is unavailable: try again" },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** The refusal of a request. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly detail: string | undefined;
  readonly fields: readonly FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  /** @param detail the problem of this request, in words for the caller. */
  constructor(code: ProblemCode, detail?: string, fields?: readonly FieldProblem[], retryAfterSeconds?: number) {
    super(detail ?? PROBLEMS[code].title);
    this.code = code;
    this.detail = detail;
    this.fields = fields;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const PROBLEM_TYPE = "application/problem+json; charset=utf-8";
const RETRY_AFTER_SECONDS = 1;
/** Time within which all waiting passwords are checked. */
const BUSY_AFTER_SECONDS = 5;

/** Answers with the problem of an error. Faults of topupd and the store are logged. */
export function sendProblem(reply: FastifyReply, error: unknown, logger: FastifyBaseLogger): FastifyReply {
  const problem = problemOf(error as FastifyError);
  if (problem.code === "internal_error") logger.error({ err: error, route: routeOf(reply) }, "a request failed");
  if (problem.code === "unavailable" && error instanceof StoreUnavailable)
    logger.warn({ cause: error.message, route: routeOf(reply) }, "the store is unavailable");
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
    return new Problem("too_many_attempts", "Too many log-ins are running: try again.", undefined, BUSY_AFTER_SECONDS);
  if (error instanceof RightsEnded) return new Problem("not_logged_in");
  if (error.statusCode === 413) return new Problem("too_large");
  // Fastify itself refuses other requests, such as a body that is not JSON.
  if (error.statusCode !== undefined && error.statusCode < 500) return new Problem("invalid", error.message);
  return new Problem("internal_error");
}

function refusedProblem({ code, words, problems }: Refused): Problem {
  const said = words(plainly);
  const detail = said === "" ? undefined : `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
  return new Problem(code, detail, problems.length === 0 ? undefined : problems);
}

type Check = (value: unknown) => { readonly value: unknown } | { readonly error: Error };

/** Compiles the check of a part of requests. Text in a path or query is converted to the type of its schema. */
export function compileCheck({ schema, httpPart }: { readonly schema: unknown; readonly httpPart?: string }): Check {
  const validator = Compile(schema as TSchema);
  return (given) => {
    // The query that fastify reads has no prototype. Convert would leave it as text.
    const value = httpPart === "body" ? given : validator.Convert({ ...(given as object) });
    if (validator.Check(value)) return { value };
    return { error: new Refused("invalid", "", problemsOf(validator.Errors(value), schema as TSchema)) };
  };
}

/** The JSON of a problem. */
function problemBody({ code, detail, fields }: Problem): Record<string, unknown> {
  const { status, title } = PROBLEMS[code];
  return { type: `urn:topupd:problem:${code}`, title, status, code, detail, fields };
}
