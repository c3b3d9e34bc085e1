/*
 * The same test in the words of either program: both have JavaScript and chai, and differ in what they call an answer.
 */

/** How a program's scripts say what the tests are made of. All are pieces of JavaScript. */
export interface Dialect {
  readonly test: string;
  readonly expect: string;
  readonly status: string;
  /** The answer as it came, to go with a complaint. */
  readonly text: string;
  /** The answer, read as JSON. */
  readonly answer: string;
  readonly header: (name: string) => string;
  /** A variable that the user sets. */
  readonly setting: (name: string) => string;
  /** A variable that an earlier request has set. */
  readonly get: (name: string) => string;
  readonly set: (name: string, value: string) => string;
}

export const POSTMAN: Dialect = {
  test: "pm.test",
  expect: "pm.expect",
  status: "pm.response.code",
  text: "pm.response.text()",
  answer: "pm.response.json()",
  header: (name) => `pm.response.headers.get(${quote(name)})`,
  setting: (name) => `pm.variables.get(${quote(name)})`,
  get: (name) => `pm.collectionVariables.get(${quote(name)})`,
  set: (name, value) => `pm.collectionVariables.set(${quote(name)}, ${value})`,
};

export const BRUNO: Dialect = {
  test: "test",
  expect: "expect",
  status: "res.getStatus()",
  text: "JSON.stringify(res.getBody())",
  answer: "res.getBody()",
  header: (name) => `res.getHeader(${quote(name)})`,
  setting: (name) => `bru.getEnvVar(${quote(name)})`,
  get: (name) => `bru.getVar(${quote(name)})`,
  set: (name, value) => `bru.setVar(${quote(name)}, ${value})`,
};

/** A value as JavaScript has it. */
export function quote(value: unknown): string {
  return JSON.stringify(value);
}
