import { expect, test } from "vitest";
import type { JsonValue } from "../../src/domain/json.ts";
import { readRadiusConfig } from "../../src/domain/radius-config.ts";
import { asJson } from "./builders.ts";

const FILE = {
  database: "postgres://radius:secret@radius.example.net:5432/radius",
  timeZone: "Asia/Kathmandu",
  groups: { FBR60: "60M", "Fiber 100": "100M" },
};

function problemsOf(file: JsonValue): string[] {
  const reading = readRadiusConfig(file);
  return reading.ok ? [] : reading.problems.map(({ field, problem }) => `${field} ${problem}`);
}

test("a file of RADIUS is read, and is of internet usernames unless it says otherwise", () => {
  const value = { kind: "radius", ...FILE, defaultGroup: undefined, services: ["internet"] };
  expect(readRadiusConfig(asJson(FILE))).toEqual({ ok: true, value });
  const more = { database: "mariadb://root@10.0.0.1/radius", defaultGroup: "slow", services: ["iptv", "internet"] };
  expect(readRadiusConfig(asJson({ ...FILE, ...more }))).toMatchObject({
    value: { ...more, services: ["internet", "iptv"] },
  });
});

test.each([
  [{ database: "sqlite:./radius.db" }, /^database must be postgres:\/\/ or mysql:\/\//],
  [{ database: "mysql://root:secret@10.0.0.1" }, /^database must be/],
  [{ timeZone: "+05:45" }, /^timeZone must be an IANA time zone/],
  [{ groups: { FBR60: 60 } }, /^groups\.FBR60 must be a string$/],
  [{ groups: { FBR60: "" } }, /^groups\.FBR60 must not be empty$/],
  [{ groups: ["60M"] }, /^groups must be an object$/],
  [{ groups: undefined }, /^groups is required$/],
  [{ defaultGroup: 7 }, /^defaultGroup must be a string$/],
  [{ services: ["wifi"] }, /^services must be some of "tv", "internet", "iptv", each once$/],
  [{ services: [] }, /^services must be some of/],
  [{ table: "radcheck" }, /^table is not a known field$/],
])("a file with %j is refused in words, which never tell the password", (change, words) => {
  const problems = problemsOf(asJson({ ...FILE, ...change }));
  expect(problems).toEqual([expect.stringMatching(words)]);
  expect(problems.join()).not.toContain("secret");
});

test("what is no object is refused", () => {
  expect(problemsOf([])).toEqual(["the file must be a JSON object"]);
});
