import type { FieldProblem } from "./fields.ts";

export type Refusal = "not_found" | "conflict" | "invalid" | "forbidden" | "own_account";
/** Names an input: `--plan TV` in the shell, `plan TV` in the staff API. */
export type Naming = (field: string, value?: string) => string;

/** Names an input as the staff API does. */
export const plainly: Naming = (field, value) => (value === undefined ? field : `${field} ${value}`);

/** Words a refusal in one line, for a record. */
export function plainWords({ words, problems }: Refused): string {
  return words(plainly) || problems.map(({ field, problem }) => `${field} ${problem}`).join(", ");
}

/** Why an operation is refused, in words that fit every face. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: Refusal;
  readonly words: (name: Naming) => string;
  readonly problems: readonly FieldProblem[];

  /**
   * @param words without a capital letter and a full stop.
   * @param problems of inputs, by their names, or of lines of a file.
   */
  constructor(code: Refusal, words: string | ((name: Naming) => string), problems: readonly FieldProblem[] = []) {
    super(code);
    this.code = code;
    this.words = typeof words === "string" ? () => words : words;
    this.problems = problems;
  }

  /** Refuses one input. @param problem follows the name of the input: `must be a day`. */
  static field(field: string, problem: string): Refused {
    return new Refused("invalid", "", [{ field, problem }]);
  }
}
