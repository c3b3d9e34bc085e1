import type { FieldProblem } from "../../domain/fields.ts";

interface ProblemKind {
  readonly status: number;
  /** What is wrong, in words; an occurrence may say more in its detail. */
  readonly title: string;
}

/** Every failure that the staff API answers with, as `application/problem+json` (RFC 9457). */
export const PROBLEMS = {
  not_logged_in: { status: 401, title: "Log in, or send an API key of the staff as Authorization: Bearer" },
  wrong_credentials: { status: 401, title: "The name, the password or the code is wrong" },
  code_required: { status: 401, title: "A one-time code is needed beside the password" },
  wrong_password: { status: 403, title: "Your own password is asked for again, and this is not it" },
  forbidden: { status: 403, title: "Your role does not allow this" },
  cross_site: { status: 403, title: "The request comes from a page of another site" },
  unknown_host: { status: 421, title: "The console does not know this host name: add it to --console-names" },
  sessions_only: { status: 403, title: "This is for people who log in, and not for keys" },
  not_found: { status: 404, title: "There is no such thing" },
  conflict: { status: 409, title: "It cannot be done as things are" },
  own_account: {
    status: 409,
    title: "Your own account is changed under /session; its role and removal are another admin's to decide",
  },
  answer_unknown: {
    status: 409,
    title: "A request with this Idempotency-Key is under way, or was cut off: look what it did",
  },
  already_answered: {
    status: 409,
    title: "A request with this Idempotency-Key was answered, with what is shown once or is too long to keep",
  },
  key_reused: { status: 422, title: "This Idempotency-Key was sent with another request" },
  invalid: { status: 422, title: "The request is not valid" },
  too_large: { status: 413, title: "The body is too large" },
  too_many_keys: {
    status: 429,
    title: "You have sent as many Idempotency-Keys within a day as are kept: send the request without one",
  },
  too_slow: { status: 408, title: "The body took longer than 10 seconds to arrive" },
  too_many_attempts: { status: 429, title: "Too many log-ins have failed, or are under way: wait a while" },
  internal_error: { status: 500, title: "topupd failed" },
  unavailable: { status: 503, title: "The database is not available at the moment" },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Thrown where a request is refused. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly detail: string | undefined;
  readonly fields: readonly FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  /** @param detail what is wrong this time, as it is shown to whoever asked. */
  constructor(code: ProblemCode, detail?: string, fields?: readonly FieldProblem[], retryAfterSeconds?: number) {
    super(detail ?? PROBLEMS[code].title);
    this.code = code;
    this.detail = detail;
    this.fields = fields;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A failure as it goes out. */
export function problemBody({ code, detail, fields }: Problem): Record<string, unknown> {
  const { status, title } = PROBLEMS[code];
  return { type: `urn:topupd:problem:${code}`, title, status, code, detail, fields };
}
