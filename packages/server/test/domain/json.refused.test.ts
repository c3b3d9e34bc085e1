import { describe, expect, test } from "vitest";
import { JsonSyntaxError, readJson } from "../../src/domain/json.ts";

/** Why a text is refused, or nothing where it is read. */
function messageOf(text: string): string {
  try {
    readJson(text);
    return "";
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}

describe("JSON is refused", () => {
  test.each([
    ["equal as written", '{"amt": 1, "amt": 1}'],
    ["equal once the escape is resolved", String.raw`{"a": 1, "\u0061": 2}`],
    ["empty", '{"": 1, "": 2}'],
    ["__proto__", '{"__proto__": 1, "__proto__": 2}'],
    ["far apart", '{"a": {"b": [1, {}]}, "c": null, "a": null}'],
    ["in an inner object", '{"a": [{"b": 1, "b": 2}]}'],
  ])("with two keys that are %s", (_how, text) => {
    expect(() => readJson(text)).toThrow(/^has the key .* twice in one object$/);
  });

  test("for a key that stands twice in one object, not for one in two objects or in two spellings", () => {
    expect(() => readJson('{"a": {"a": 1}, "b": {"a": 1}, "A": 1}')).not.toThrow();
  });

  test.each([
    ["nothing", ["", " ", "\n"]],
    ["text after its end", ["{} x", "1 2", "null null", "[]]", "{}{}", "truefalse", '"a" "b"', "{}\u0000"]],
    ["no end", ["{", "[", '"', '{"a"', '{"a":', '{"a":1', '{"a":1,', "[1", "[1,", "tru", "-"]],
    ["a comma too many", ["[1,]", "[,1]", "[,]", '{"a":1,}', "{,}", "[1,,2]"]],
    ["a comma or colon too few", ["[1 2]", '{"a" 1}', '{"a":1 "b":2}', '{"a":,}']],
    ["keys that are no strings", ["{a: 1}", "{'a': 1}", "{1: 1}", "{null: 1}", "{[]: 1}"]],
    ["control characters in a string", ['"a\nb"', '"\t"', '"\u0000"', '"\u001f"', '{"a\nb": 1}']],
    [
      "bad escapes",
      [String.raw`"\x41"`, String.raw`"\u12"`, String.raw`"\u00g0"`, String.raw`"\U0041"`, '"\\', '"\\"'],
    ],
    [
      "numbers of other kinds",
      ["01", "+1", ".5", "1.", "1.e3", "1e", "0x10", "1_000", "--1", "- 1", "NaN", "Infinity"],
    ],
    ["words of other kinds", ["True", "NULL", "undefined", "nul", "yes"]],
    ["comments", ["/* a */ 1", "1 // a", '{"a": 1 /* b */}']],
    ["blanks of other kinds", ["\u00a01", "\ufeff{}", "1\u2028", "\u000b1", "\f1"]],
    ["mixed brackets", ["[}", "{]", "[1}", '{"a":1]', "(1)"]],
  ])("with %s", (_what, texts) => {
    const accepted = texts.filter((text) => messageOf(text) === "");
    expect(accepted).toEqual([]);
  });

  test("by the place of what is unexpected, counted from one", () => {
    expect(() => readJson('{"a": x}')).toThrow("is not JSON: something unexpected at character 7");
    expect(() => readJson("[1,")).toThrow("is not JSON: something unexpected at its end");
  });

  test("without repeating any value of it", () => {
    const texts = ['{"mobile": "9800000001" x}', '["9800000001', '{"a": "9800000001", "a": 1}', "9800000001x"];
    for (const text of texts) expect(messageOf(text)).toMatch(/^(?:is not JSON|has the key)(?!.*98)/);
  });

  test("with no more of an over-long key than its beginning", () => {
    const key = "k".repeat(5000);
    expect(() => readJson(`{"${key}": 1, "${key}": 2}`)).toThrow(`has the key "${"k".repeat(64)}" twice in one object`);
  });
});
