import { type TSchema, Type } from "typebox";
import { FAILURES, type FailureReason, RETRIES } from "../failures.ts";

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

/** A failure in the envelope, for one of these reasons (decisions, "Failures"). */
export function failureSchema(reasons: readonly FailureReason[], title: string): TSchema {
  const isOfFields = reasons.includes("invalid_field");
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
          ...(isOfFields && { fields: Type.Optional(fields) }),
        },
        { description: "What went wrong, and what to do." },
      ),
    },
    { title, description: "A request that was refused or failed." },
  );
}
