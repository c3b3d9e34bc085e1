import { STATUS_CODES } from "node:http";
import { type FieldProblem, IDENTIFIER_MAX_LENGTH } from "../../domain/fields.ts";
import { FAILURES, type FailureReason, renderFailure } from "../failures.ts";
import { type Components, hoist, type Json } from "./components.ts";
import { failureSchema } from "./failure-schema.ts";
import { describeHeaders } from "./headers.ts";

/** What can go wrong with a request of any operation, whatever the rules say of it. */
const ALWAYS: readonly FailureReason[] = [
  "malformed_json",
  "invalid_field",
  "missing_token",
  "unknown_token",
  "expired_token",
  "revoked_token",
  "partner_suspended",
  "address_not_allowed",
  "body_too_large",
  "unsupported_media_type",
  "rate_limited",
  "internal_error",
  "unavailable",
];

const EXAMPLE_REQUEST_ID = "4e21cd0cdd2711a0b3";
const EXAMPLE_PROBLEMS: readonly FieldProblem[] = [
  { field: "reqId", problem: "is required" },
  { field: "cuid", problem: `must have at most ${IDENTIFIER_MAX_LENGTH} characters` },
];

/** What is asked of an operation to describe how it fails. */
export interface Failing {
  /** Begins the names of schemas that only this operation has. */
  readonly title: string;
  readonly refusals: readonly FailureReason[];
  readonly isTopUp: boolean;
  /** Headers that every answer of the version has besides. */
  readonly announced: readonly string[];
}

/** The responses of an operation for everything that it can refuse or fail with, by HTTP status. */
export function failureResponses(failing: Failing, components: Components): Record<string, Json> {
  const reasons = [...failing.refusals, ...ALWAYS];
  const statuses = [...new Set(reasons.map((reason) => FAILURES[reason].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const own = reasons.filter((reason) => FAILURES[reason].status === status);
      const isShared = own.every((reason) => ALWAYS.includes(reason));
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
    const detail = { isTopUp, ...(reason === "invalid_field" && { fields: EXAMPLE_PROBLEMS }) };
    return [reason, renderFailure(reason, EXAMPLE_REQUEST_ID, detail)] as const;
  });
  const headers = answers.flatMap(([, answer]) => Object.keys(answer.headers));
  return {
    description: `${STATUS_CODES[status]}: ${reasons.map((reason) => `\`${reason}\``).join(", ")}.`,
    headers: describeHeaders(["x-request-id", ...announced, ...headers]),
    content: {
      "application/json": {
        schema,
        examples: Object.fromEntries(
          answers.map(([reason, { body }]) => [reason, { value: JSON.parse(body) as Json }]),
        ),
      },
    },
  };
}
