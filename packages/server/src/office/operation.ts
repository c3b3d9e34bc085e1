import type { Static, TObject, TSchema } from "typebox";
import type { Permission } from "../domain/staff.ts";
import type { ProviderSettings } from "../store/store.ts";
import type { Office } from "./office.ts";
import type { Refusal } from "./refused.ts";

/** One thing that staff can do. The staff API, its document, the console's types and the command line are rendered from it. */
export interface Operation<Input extends TObject = TObject, Answer extends TSchema | undefined = TSchema | undefined> {
  /**
   * Below `/api/v1`, such as `GET /partners/:name`; undefined if only the shell has it. A field that the path names is
   * required in the API.
   */
  readonly http?: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;
  readonly tag: string;
  readonly permission: Permission;
  readonly summary: string;
  /** Flat. A field `preview` makes {@link decide} write nothing; a field `reason` goes into the audit trail. */
  readonly input: Input;
  /** Undefined if it answers nothing. `pageOf` makes a list, `rowsOf` a stream. */
  readonly answer?: Answer;
  readonly status?: 200 | 201 | 202;
  /** Refusals beside those that any operation may have. */
  readonly refuses?: readonly Refusal[];
  /** The answer holds a secret that is shown once: it is not kept for an Idempotency-Key. */
  readonly isSecret?: boolean;
  /** People send their own password again; keys are refused. */
  readonly asksPassword?: boolean;
  /** It changes nothing, though its method is not GET. */
  readonly changesNothing?: boolean;
  /** Size of a body that is no file, in bytes (default 64 KiB). */
  readonly mostBytes?: number;
  /** Commands that run it. */
  readonly cli?: readonly Cli<Static<Input>, AnswerOf<Answer>>[];
  /** @throws Refused */
  run(this: void, office: Office, input: Static<Input>): Promise<AnswerOf<Answer>>;
}

export type AnswerOf<Answer> = Answer extends TSchema ? Static<Answer> : undefined;

export interface Cli<Input, Answer> {
  /** Such as `token issue`. */
  readonly words: string;
  /** That of the operation by default. */
  readonly summary?: string;
  /** Input that is given without a flag, in this order. */
  readonly arguments?: readonly (keyof Input & string)[];
  /** Input that this command always gives, or never, if it is undefined. */
  readonly given?: { readonly [Field in keyof Input]?: Input[Field] | undefined };
  readonly examples: readonly [string, ...string[]];
  readonly makesDatabase?: boolean;
  /** What is printed without --json: a table of these columns, or text. */
  readonly show?: readonly string[] | Show<Answer>;
}

type Show<Answer> = { said(answer: Answer, provider: ProviderSettings): Shown }["said"];

export interface Shown {
  readonly out: string;
  /** For stderr, also with --json. */
  readonly note?: string;
  /** It is done, but something needs attention: exit code 3. */
  readonly wrong?: string | undefined;
}

/** Checks the parts of an operation against each other. */
export function operation<Input extends TObject, Answer extends TSchema | undefined = undefined>(
  definition: Operation<Input, Answer>,
): Operation<Input, Answer> {
  return definition;
}
