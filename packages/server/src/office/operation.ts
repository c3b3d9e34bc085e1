import type { Static, TObject, TSchema } from "typebox";
import type { Refusal } from "../domain/refused.ts";
import type { Permission } from "../domain/staff.ts";
import type { ProviderSettings } from "../store/store.ts";
import { auditExport } from "./exports.ts";
import { type Desk, forReports, type Office, officeOf } from "./office.ts";

/** An operation of staff. The staff API, its document, the console's types and the command line are rendered from it. */
export interface Operation<Input extends TObject = TObject, Answer extends TSchema | undefined = TSchema | undefined> {
  /**
   * Method and path below `/api/v1` (`GET /partners/:name`); undefined if only the shell has the operation. A field in the
   * path is required in the API.
   */
  readonly http?: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;
  readonly tag: string;
  readonly permission: Permission;
  readonly summary: string;
  /** Flat input. With a field `preview`, `decide` writes nothing; a field `reason` goes into the audit trail. */
  readonly input: Input;
  /** Undefined for an empty answer. `pageOf` makes a list, `rowsOf` a stream. */
  readonly answer?: Answer;
  readonly status?: 200 | 201 | 202;
  /** Other statuses of some answers: 200 if nothing was made, 202 if the work is still to be done. */
  readonly otherStatuses?: readonly { readonly code: 200 | 202; isOf(this: void, answer: AnswerOf<Answer>): boolean }[];
  /** Refusals in addition to those of every operation. */
  readonly refuses?: readonly Refusal[];
  /** Whether the answer has a secret that is shown once: then it is not kept for an Idempotency-Key. */
  readonly isSecret?: boolean;
  /** Whether people must send their own password again. Keys are refused then. */
  readonly asksPassword?: boolean;
  /** Whether it changes nothing although its method is not GET. */
  readonly changesNothing?: boolean;
  /** A list or report, which reads the standby if there is one. It decides nothing. */
  readonly isReport?: boolean;
  /** Largest body in bytes (default 64 KiB), unless the body is a file. */
  readonly mostBytes?: number;
  /** Commands that run the operation. */
  readonly cli?: readonly Cli<Static<Input>, AnswerOf<Answer>>[];
  /** @throws Refused */
  run(this: void, office: Office, input: Static<Input>): Promise<AnswerOf<Answer>>;
}

export type AnswerOf<Answer> = Answer extends TSchema ? Static<Answer> : undefined;

export interface Cli<Input, Answer> {
  /** Name of the command (`token issue`). */
  readonly words: string;
  /** Summary of the command (default: of the operation). */
  readonly summary?: string;
  /** Input without a flag, in this order. */
  readonly arguments?: readonly (keyof Input & string)[];
  /** Input that this command always gives; with undefined, never. */
  readonly given?: { readonly [Field in keyof Input]?: Input[Field] | undefined };
  readonly examples: readonly [string, ...string[]];
  readonly makesDatabase?: boolean;
  /** Output without --json: a table of these columns, or text. */
  readonly show?: readonly string[] | Show<Answer>;
}

type Show<Answer> = { said(answer: Answer, provider: ProviderSettings): Shown }["said"];

export interface Shown {
  readonly out: string;
  /** Text for stderr, also with --json. */
  readonly note?: string;
  /** A problem that needs attention although the work is done: exit code 3. */
  readonly wrong?: string | undefined;
}

/** Checks the parts of an operation against each other. */
export function operation<Input extends TObject, Answer extends TSchema | undefined = undefined>(
  definition: Operation<Input, Answer>,
): Operation<Input, Answer> {
  return definition;
}

/** Runs an operation; an export is audited before its first row is read. @param input valid for its schema. @throws Refused */
export async function perform<Input extends TObject, Answer extends TSchema | undefined>(
  operation: Operation<Input, Answer>,
  desk: Desk,
  input: Static<Input>,
): Promise<AnswerOf<Answer>> {
  const office = officeOf(desk, input as object);
  const done = await operation.run(operation.isReport === true ? forReports(office) : office, input);
  await auditExport(office, operation, input as object);
  return done;
}
