import { type Dialect, quote } from "./dialect.ts";

/** A test that a request's answer has to pass. */
export interface Check {
  readonly title: string;
  /** The statements of the test. */
  readonly lines: (say: Dialect) => readonly string[];
}

/** The lines of the script that runs after a request. */
export function testScript(checks: readonly Check[], say: Dialect): string[] {
  const tests = checks.map(({ title, lines }) => [
    `${say.test}(${quote(title)}, () => {`,
    ...lines(say).map((line) => `  ${line}`),
    "});",
  ]);
  return tests.flatMap((test, index) => (index === 0 ? test : ["", ...test]));
}

/** The lines of the script that runs before a request that sets these variables, none if it sets none. */
export function clearingScript(gives: readonly string[], say: Dialect): string[] {
  if (gives.length === 0) return [];
  return [
    "// If this request fails, nothing of an earlier run goes into a top-up.",
    ...gives.map((name) => `${say.set(name, quote(""))};`),
  ];
}

/** The HTTP status and the code that the document gives. */
export function answers(status: number, code: string): readonly Check[] {
  return [
    {
      title: `answers with HTTP status ${status}`,
      lines: (say) => [`${say.expect}(${say.status}, ${say.text}).to.equal(${status});`],
    },
    {
      title: `answers with code ${code}`,
      lines: (say) => [`${say.expect}(${say.answer}.code, ${say.text}).to.equal(${quote(code)});`],
    },
  ];
}

/** A look into the body of a success; where there is none, the test says why by the service's own message. */
export function finds(title: string, lines: (say: Dialect) => readonly string[]): Check {
  return {
    title,
    lines: (say) => [
      `const { success, body } = ${say.answer};`,
      `${say.expect}(success, body.message).to.equal(true);`,
      ...lines(say),
    ],
  };
}

/** The body of a refusal: what a program decides by, and everything else that the document promises. */
export function explains(required: readonly string[], expected: Readonly<Record<string, string>>): Check {
  return {
    title: "says what went wrong and what to do next",
    lines: (say) => [
      `const { success, body } = ${say.answer};`,
      `${say.expect}(success).to.equal(false);`,
      `${say.expect}(body).to.include.all.keys(${quote(required)});`,
      ...Object.entries(expected).map(([name, value]) => `${say.expect}(body.${name}).to.equal(${quote(value)});`),
    ],
  };
}
