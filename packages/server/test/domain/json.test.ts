import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonObject, JsonNumber, JsonSyntaxError, type JsonValue, readJson } from "../../src/domain/json.ts";
import { RUNS } from "./builders.ts";

const anyJson = fc.jsonValue({ maxDepth: 6, stringUnit: "binary" });

/** The JSON text of a value as JSON.parse reads it. */
function sameTextAs(value: JsonValue): string {
  return JSON.stringify(value, (_key, item) => (item instanceof JsonNumber ? Number(item.literal) : item));
}

/** The result of JSON.parse; undefined if it refuses the text. */
function readByPlatform(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function readOrRefuse(text: string): JsonValue | JsonSyntaxError {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
}

describe("reading JSON", () => {
  test("gives what the platform's own reader gives, for any value", () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(sameTextAs(readJson(text))).toBe(readByPlatform(text));
      }),
      RUNS,
    );
  });

  test("accepts no more and no less than the platform's own reader, but for duplicate keys", () => {
    const anyDamage = fc.record({
      place: fc.nat({ max: 200 }),
      length: fc.nat({ max: 2 }),
      by: fc.constantFrom("", '"', "\\", ",", ":", "{", "}", "[", "]", "0", "-", ".", "e", "u", " ", "\n", "\u0000"),
    });
    fc.assert(
      fc.property(anyJson, anyDamage, (value, { place, length, by }) => {
        const text = JSON.stringify(value);
        const from = place % (text.length + 1);
        const damaged = text.slice(0, from) + by + text.slice(from + length);
        const read = readOrRefuse(damaged);
        if (read instanceof JsonSyntaxError && read.message.includes("twice")) return;
        expect(read instanceof JsonSyntaxError ? undefined : sameTextAs(read)).toBe(readByPlatform(damaged));
      }),
      { ...RUNS, numRuns: 3000 },
    );
  });

  test.each(["1130", "1130.00", "-0", "0.1000", "1e3", "1E+2", "2847.15", "123456789012345678901234567890.5", "1e400"])(
    "keeps the number %s as it was written",
    (literal) => {
      expect(readJson(literal)).toEqual(new JsonNumber(literal));
      expect(readJson(` [${literal} ]`)).toEqual([new JsonNumber(literal)]);
    },
  );

  test("takes __proto__, constructor and toString for keys like any other", () => {
    const object = readJson('{"__proto__": {"admin": true}, "constructor": "a", "toString": null}');
    if (!isJsonObject(object)) throw new Error("not read as an object");
    expect(Object.keys(object)).toEqual(["__proto__", "constructor", "toString"]);
    expect(object["admin"]).toBeUndefined();
    expect("valueOf" in object).toBe(false);
  });

  test("resolves every escape", () => {
    expect(readJson(String.raw`"\"\\\/\b\f\n\r\t\u0041\u00e9\u00E9\ud83d\uDE00"`)).toBe('"\\/\b\f\n\r\tAéé😀');
  });

  test("passes half of a surrogate pair on, for the field's own rule to refuse", () => {
    expect(readJson(String.raw`"\ud800"`)).toBe("\ud800");
    expect(readJson('"\udc00"')).toBe("\udc00");
  });

  test("reads a string of 100,000 escapes, and refuses it without its end, by a plain sentence", () => {
    const escapes = String.raw`\n\u0041`.repeat(50_000);
    expect(readJson(`"${escapes}"`)).toBe("\nA".repeat(50_000));
    expect(() => readJson(`"${escapes}`)).toThrow(JsonSyntaxError);
  });

  test("goes sixteen levels deep, and no deeper", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(readJson(nested(16))).toBeInstanceOf(Array);
    expect(() => readJson(nested(17))).toThrow("is nested deeper than 16 levels");
    expect(readJson(`${'{"a":'.repeat(16)}1${"}".repeat(16)}`)).toHaveProperty("a");
    expect(() => readJson('{"a":'.repeat(100_000))).toThrow("is nested deeper than 16 levels");
    expect(readJson(`[${"[],{},".repeat(1000)}null]`)).toHaveLength(2001);
  });

  test("tells an object from everything else", () => {
    const values = ["{}", "[]", "null", '"{}"', "1", "true"].map((text) => isJsonObject(readJson(text)));
    expect(values).toEqual([true, false, false, false, false, false]);
    expect(isJsonObject(undefined)).toBe(false);
  });
});

describe("JSON is refused", () => {
  test.each([
    ["equal as written", '{"amt": 1, "amt": 1}'],
    ["equal once the escape is resolved", String.raw`{"a": 1, "\u0061": 2}`],
    ["__proto__", '{"__proto__": 1, "__proto__": 2}'],
    ["far apart", '{"a": {"b": [1, {}]}, "c": null, "a": null}'],
    ["in an inner object", '{"a": [{"b": 1, "b": 2}]}'],
  ])("with two keys that are %s", (_how, text) => {
    expect(() => readJson(text)).toThrow(/^has the key .* twice in one object$/);
  });

  test("for a key that stands twice in one object, not for one in two objects or in two spellings", () => {
    expect(() => readJson('{"a": {"a": 1}, "b": {"a": 1}, "A": 1}')).not.toThrow();
  });

  test("by the place of what is unexpected, counted from one", () => {
    expect(() => readJson('{"a": x}')).toThrow("is not JSON: something unexpected at character 7");
    expect(() => readJson("[1,")).toThrow("is not JSON: something unexpected at its end");
  });

  test("without repeating any value of it, or more of an over-long key than its beginning", () => {
    for (const text of ['{"mobile": "9800000001" x}', '["9800000001', '{"a": "9800000001", "a": 1}', "9800000001x"])
      expect((readOrRefuse(text) as JsonSyntaxError).message).not.toContain("98");
    const key = "k".repeat(5000);
    expect(() => readJson(`{"${key}": 1, "${key}": 2}`)).toThrow(`has the key "${"k".repeat(64)}" twice in one object`);
  });
});
