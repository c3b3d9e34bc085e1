import fc from "fast-check";
import { expect, describe as group, test } from "vitest";
import { asText, describe, describeCode, isTimestamp, member } from "../src/shape.ts";

group("what is said of a value", () => {
  test("holds no name and no number of it", () => {
    const personal = fc.constantFrom("Mayadevi", "9812345678", "maya.net", "O'Neill-Rai", "सीता", "secret-7f3a");
    const within = personal.chain((secret) =>
      fc
        .constantFrom<unknown>(
          secret,
          `${secret} is away`,
          [secret],
          { [secret]: 1 },
          { cuid: secret },
          { name: { [secret]: secret } },
        )
        .map((value) => ({ secret, value })),
    );
    fc.assert(fc.property(within, ({ secret, value }) => !describe(value).includes(secret)));
  });

  test("is short, of one line and plain, whatever the value is", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.string({ unit: "binary", maxLength: 200 })), (value) => {
        const said = describe(value);
        expect(said).toMatch(/^[\x20-\x7e]+$/);
        expect(said.length).toBeLessThan(500);
      }),
    );
  });

  test.each([
    ["400aa011", 'a string like "999aa999"'],
    ["true", 'the string "true"'],
    ["2026-11-20T09:00:00Z", 'a string like "9999-99-99a99:99:99a"'],
    ["", "an empty string"],
    [7, "a number"],
    [null, "null"],
    [undefined, "nothing"],
    [[], "an array of 0"],
    [{}, "an empty object"],
    [{ stb: 1, status: 2, other: 3 }, "an object with stb, status and 1 unknown keys"],
  ])("of %j is %s", (value, said) => {
    expect(describe(value)).toBe(said);
  });
});

test("a result code is shown, and only where one is due", () => {
  expect(describeCode("400aa011")).toBe('the string "400aa011"');
  expect([describeCode("9812345678"), describeCode(7)]).toEqual(['a string like "9999999999"', "a number"]);
});

group("a timestamp", () => {
  test("is any second from 0000 to 9999 in the interface's form", () => {
    const from = Date.parse("0000-01-01T00:00:00Z") / 1000;
    const to = Date.parse("9999-12-31T23:59:59Z") / 1000;
    fc.assert(
      fc.property(fc.integer({ min: from, max: to }), (second) => {
        const iso = new Date(second * 1000).toISOString();
        expect(isTimestamp(iso.slice(0, 19).replace("T", " "))).toBe(true);
        expect(isTimestamp(iso)).toBe(false);
      }),
    );
  });

  test.each([
    "2026-02-30 00:00:00",
    "2026-13-01 00:00:00",
    "2026-11-20 24:00:00",
    "2026-11-20 09:60:00",
    "2026-11-20 9:00:00",
    "2026-11-20 09:00",
    " 2026-11-20 09:00:00",
    "2026-11-20 09:00:00\n",
    "20-11-2026 09:00:00",
    "0000-00-00 00:00:01",
    "2026-00-00 00:00:00",
    1_795_132_800,
    null,
  ])("is not %j", (value) => {
    expect(isTimestamp(value)).toBe(false);
  });
});

test("no date has the form of one", () => {
  expect(isTimestamp("0000-00-00 00:00:00")).toBe(true);
});

group("a member", () => {
  test("is one of the object's own", () => {
    expect(member({ a: 1 }, "a")).toBe(1);
    for (const name of ["toString", "__proto__", "constructor"]) expect(member({}, name)).toBe(undefined);
    for (const value of [null, undefined, "text", 7, [1]]) expect(member(value, "length")).toBe(undefined);
  });
});

test("an identifier that is a number is read as its digits, and an empty one as none", () => {
  expect([asText(7), asText("7"), asText(""), asText(null), asText(["7"])]).toEqual([
    "7",
    "7",
    undefined,
    undefined,
    undefined,
  ]);
});
