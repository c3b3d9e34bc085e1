import { expect, test } from "vitest";
import type { JsonValue } from "../../src/domain/json.ts";
import { isSameDatabase, readRadiusAddress, readRadiusConfig } from "../../src/domain/radius.ts";
import { asJson } from "./builders.ts";

const FILE = {
  database: "postgres://radius:secret@radius.example.net:5432/radius",
  timeZone: "Asia/Kathmandu",
  groups: { FBR60: "60M", "Fiber 100": "100M" },
};

function problemsOf(file: JsonValue): string[] {
  const reading = readRadiusConfig(file, "internet");
  return reading.ok ? [] : reading.problems.map(({ field, problem }) => `${field} ${problem}`);
}

test("a file of RADIUS is read", () => {
  const value = { kind: "radius", ...FILE, defaultGroup: undefined, service: "internet" };
  expect(readRadiusConfig(asJson(FILE), "internet")).toEqual({ ok: true, value });
  const more = { database: "mariadb://root@10.0.0.1/radius", defaultGroup: "slow" };
  expect(readRadiusConfig(asJson({ ...FILE, ...more }), "iptv")).toMatchObject({ value: { ...more, service: "iptv" } });
});

test("a database's URL gives host, port, user, password, database and TLS", () => {
  expect(readRadiusAddress("postgres://r%40d:p%3Fw@db.example.net:6432/radius?sslmode=verify-full")).toEqual({
    ...{ engine: "postgres", host: "db.example.net", port: 6432, user: "r@d", password: "p?w" },
    ...{ database: "radius", tls: "verify-full" },
  });
  const plain = { engine: "mysql", port: 3306, user: "r", password: "", database: "radius", tls: "disable" };
  expect(readRadiusAddress("mariadb://r@[::1]/radius")).toEqual({ ...plain, host: "::1" });
  expect(readRadiusAddress("mysql://r@10.0.0.1/radius?sslmode=no-verify")).toMatchObject({ tls: "no-verify" });
});

test.each(["postgres", "mysql"])("a %s URL has no option of a driver but sslmode", (scheme) => {
  for (const options of [
    ...["options=-c%20search_path%3Dother", "host=10.0.0.2", "sslcert=/etc/passwd", "flags=LOCAL_FILES"],
    ...["multipleStatements=true", "sslmode=prefer", "sslmode=disable&sslmode=disable", "ssl=true", "sslmode"],
  ])
    expect(readRadiusAddress(`${scheme}://r:secret@10.0.0.1/radius?${options}`), options).toBe(
      "can have no option but sslmode=verify-full, no-verify or disable",
    );
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
  [{ database: "mysql://r:secret%@10.0.0.1/radius" }, /^database must be/],
  [{ database: "mysql://r:secret@10.0.0.1/radius?debug=true" }, /^database can have no option but sslmode=/],
  [{ services: ["internet", "iptv"] }, /^services is not a known field$/],
  [{ table: "radcheck" }, /^table is not a known field$/],
])("a file with %j is refused in words, which never tell the password", (change, words) => {
  const problems = problemsOf(asJson({ ...FILE, ...change }));
  expect(problems).toEqual([expect.stringMatching(words)]);
  expect(problems.join()).not.toContain("secret");
});

test("what is no object is refused", () => {
  expect(problemsOf([])).toEqual(["the file must be a JSON object"]);
});

test.each([
  ["postgresql://iptv:pass@DB.example.net:5432/radius?sslmode=no-verify", true],
  ["postgres://r@db.example.net/iptv", false],
  ["postgres://r@db.example.net:6432/radius", false],
  ["mysql://r@db.example.net/radius", false],
])("postgres://r@db.example.net/radius and %s: the same database: %s", (other, expected) => {
  expect(isSameDatabase("postgres://r@db.example.net/radius", other)).toBe(expected);
});
