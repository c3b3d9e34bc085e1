import { STATUS_CODES } from "node:http";
import { type TSchema, Type } from "typebox";
import { LIMIT_NAMES } from "../../domain/account.ts";
import { type FieldProblem, IDENTIFIER_MAX_LENGTH } from "../../domain/fields.ts";
import { headerNames } from "../call.ts";
import { FAILURES, type FailureDetail, type FailureReason, RETRIES, renderFailure } from "../failures.ts";
import { type Components, describeHeaders, hoist, type Json, jsonContent } from "./components.ts";

/** The envelope of a success. */
export function success(code: string, body: TSchema, title: string): TSchema {
  return Type.Object(
    {
      success: Type.Boolean({ const: true, description: "True on a success." }),
      code: Type.String({ const: code, description: "The code of this operation's success." }),
      body,
    },
    { title, description: "What was asked for." },
  );
}

/** Failures that only a request with a body has. */
const OF_BODY: readonly FailureReason[] = ["malformed_json", "body_too_large", "unsupported_media_type"];

/** Failures that every operation has. */
const ALWAYS: readonly FailureReason[] = [
  ...OF_BODY,
  "invalid_field",
  "missing_token",
  "unknown_token",
  "expired_token",
  "revoked_token",
  "address_not_allowed",
  "rate_limited",
  "internal_error",
  "unavailable",
];

const EXAMPLE_REQUEST_ID = "4e21cd0cdd2711a0b3";
const EXAMPLE_PROBLEMS: readonly FieldProblem[] = [
  { field: "reqId", problem: "is required" },
  { field: "cuid", problem: `must have at most ${IDENTIFIER_MAX_LENGTH} characters` },
];

const EXAMPLE_DETAILS: Readonly<Partial<Record<FailureReason, FailureDetail>>> = {
  invalid_field: { fields: EXAMPLE_PROBLEMS },
  insufficient_balance: { missing: 390.5 },
  limit_reached: { limit: "day_amount", limitEndsAt: "2026-11-21 00:00:00" },
  rate_limited: { policy: { name: "calls", quota: 50, windowMs: 1000 }, retryAfterSeconds: 1 },
};

interface Failing {
  /** Prefix for the names of this operation's own schemas. */
  readonly title: string;
  readonly refusals: readonly FailureReason[];
  readonly isTopUp: boolean;
  readonly hasBody: boolean;
  /** Further headers of every answer of the version. */
  readonly announced: readonly string[];
}

/** The responses for all refusals and failures of an operation, by HTTP status. */
export function failureResponses(failing: Failing, components: Components): Record<string, Json> {
  const always = failing.hasBody ? ALWAYS : ALWAYS.filter((reason) => !OF_BODY.includes(reason));
  const reasons = [...failing.refusals, ...always];
  const statuses = [...new Set(reasons.map((reason) => FAILURES[reason].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const own = reasons.filter((reason) => FAILURES[reason].status === status);
      const shared = ALWAYS.filter((reason) => FAILURES[reason].status === status);
      const isShared = own.length === shared.length && own.every((reason) => shared.includes(reason));
      const schema = failureSchema(own, `${isShared ? "" : failing.title}Failure${status}`);
      return [String(status), failureResponse(status, own, failing, hoist(schema, components))];
    }),
  );
}

function failureResponse(
  status: number,
  reasons: readonly FailureReason[],
  { isTopUp, announced }: Failing,
  schema: Json,
): Json {
  const answers = reasons.map((reason) => {
    return [reason, renderFailure(reason, EXAMPLE_REQUEST_ID, { isTopUp, ...EXAMPLE_DETAILS[reason] })] as const;
  });
  const headers = answers.flatMap(([, answer]) => headerNames(answer.headers));
  return {
    description: `${STATUS_CODES[status]}: ${reasons.map((reason) => `\`${reason}\``).join(", ")}.`,
    headers: describeHeaders(["x-request-id", ...announced, ...headers]),
    content: jsonContent(
      schema,
      answers.map(([reason, { body }]) => [reason, JSON.parse(body) as Json]),
    ),
  };
}

const message = Type.String({
  description: "A sentence on what is wrong and what to do. Its wording may change: do not compare it.",
});

const retry = Type.String({
  enum: [...RETRIES],
  description:
    "What a program does next: `fix_request` correct it first; `same_request` send it again later, unchanged; `new_checkout` list again and use the new checkoutId; `query_status` call txn-status before anything else; `no` a person has to act.",
});

const requestId = Type.String({ description: "The same as in X-Request-Id. Quote it to the provider." });

const fields = Type.Array(
  Type.Object(
    {
      field: Type.String({ description: "The name of the field." }),
      problem: Type.String({ description: "What is wrong with it. Never holds its value." }),
    },
    { title: "FieldProblem", description: "What is wrong with one field." },
  ),
  { description: "Everything that is wrong with the request." },
);

const limit = Type.String({ enum: [...LIMIT_NAMES], description: "The limit that the top-up would exceed." });

const limitEndsAt = Type.String({
  description: "When that limit ends, by the provider's clock. Missing if time does not end it.",
});

const missing = Type.Number({
  description: "The amount that the balance lacks, in major units. Missing if the checkoutId was refused before.",
});

/** The envelope of a failure with one of these reasons. */
function failureSchema(reasons: readonly FailureReason[], title: string): TSchema {
  return Type.Object(
    {
      success: Type.Boolean({ const: false, description: "False on a failure." }),
      code: Type.String({
        enum: reasons.map((reason) => FAILURES[reason].code),
        description: "What went wrong, for tables. A code never changes its meaning.",
      }),
      body: Type.Object(
        {
          reason: Type.String({ enum: [...reasons], description: "What went wrong: a name for the code." }),
          message,
          retry,
          requestId,
          ...(reasons.includes("invalid_field") && { fields: Type.Optional(fields) }),
          ...(reasons.includes("limit_reached") && {
            limit: Type.Optional(limit),
            limitEndsAt: Type.Optional(limitEndsAt),
          }),
          ...(reasons.includes("insufficient_balance") && { missing: Type.Optional(missing) }),
        },
        { description: "What went wrong, and what to do." },
      ),
    },
    { title, description: "A request that was refused or failed." },
  );
}
