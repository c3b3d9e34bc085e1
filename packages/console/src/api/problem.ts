/** A failure as the API answers: `application/problem+json` (RFC 9457). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail?: string;
  readonly fields?: readonly { readonly field: string; readonly problem: string }[];
}

/** A request that was refused or failed. `status` 0: no answer. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }

  /** A problem that the console finds before sending. */
  static ofField(field: string, problem: string): ApiProblem {
    return new ApiProblem({
      type: "about:blank",
      title: "",
      status: 422,
      code: "invalid",
      fields: [{ field, problem }],
    });
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): string {
    return this.problem.code;
  }

  /** Whether the request may have worked. A repeat with the same key is safe. */
  get mayBeDone(): boolean {
    return this.status === 0 || this.status >= 500;
  }

  /** Whether an earlier request with the same key has an unknown outcome, so that staff must check. */
  get isCutOff(): boolean {
    return this.code === "answer_unknown";
  }
}
