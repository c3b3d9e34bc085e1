import type { Static, TObject, TSchema } from "typebox";
import { Value } from "typebox/value";
import { expect } from "vitest";
import { Refused } from "../../src/domain/refused.ts";
import type { Limits } from "../../src/office/limits.ts";
import type { Desk } from "../../src/office/office.ts";
import type { AnswerOf, Operation } from "../../src/office/operation.ts";
import { perform } from "../../src/office/operation.ts";

export { deskOf, OWN_NETWORKS } from "./plain-desk.ts";

/* Operations as both faces run them. */

/** Limits that limit nothing. */
export const NO_LIMITS: Limits = {
  ...{ supportGoodwillDays: Number.POSITIVE_INFINITY, supportBulk: Number.POSITIVE_INFINITY },
  ...{ secondPersonBulk: Number.POSITIVE_INFINITY, secondPersonReversal: undefined, secondPersonMoney: undefined },
};

/** Runs an operation, and holds its answer against its schema, with no field more. */
export async function run<Input extends TObject, Answer extends TSchema | undefined>(
  desk: Desk,
  operation: Operation<Input, Answer>,
  input: Static<Input>,
): Promise<AnswerOf<Answer>> {
  const answer = await perform(operation, desk, input);
  const { answer: schema } = operation;
  if (schema !== undefined && !("rows" in schema)) expect(Value.Errors(closed(schema), answer)).toEqual([]);
  return answer;
}

/** A sent file with these lines. */
export const listOf = (lines: readonly string[]) => ({
  name: "list.txt",
  isCsv: false,
  open: async function* () {
    yield Buffer.from(lines.join("\n"));
  },
});

/** Why an operation is refused: its code, words and problems. @throws if it is not refused. */
export async function refusal(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Refused)) throw error ?? new Error("it is not refused");
  const { code, problems } = error;
  return { code, words: error.words((field, value = "") => `--${field} ${value}`.trim()), problems };
}

/** The same schema, in which no object has a field that it does not name. */
export function closed(schema: TSchema): TSchema {
  const parts = Object.entries(schema as object).map(([name, part]: [string, unknown]) => [
    name,
    closedPart(name, part),
  ]);
  const isObject = (schema as { type?: string }).type === "object" && "properties" in schema;
  const open = { ...(isObject && { additionalProperties: false }) };
  return { ...(Object.fromEntries(parts) as object), ...open } as TSchema;
}

function closedPart(name: string, part: unknown): unknown {
  if (name === "items") return closed(part as TSchema);
  if (name === "anyOf") return (part as TSchema[]).map(closed);
  if (name !== "properties") return part;
  return Object.fromEntries(Object.entries(part as object).map(([field, each]) => [field, closed(each as TSchema)]));
}
