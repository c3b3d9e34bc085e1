import { describe, expect, test } from "vitest";
import { FieldReader, LABEL } from "../../src/domain/fields.ts";
import { type JsonObject, readJson } from "../../src/domain/json.ts";
import { asJson } from "./builders.ts";

/** The result of reading one field of an object. */
function read<Value>(object: object, take: (fields: FieldReader) => Value) {
  const fields = new FieldReader(asJson(object));
  return fields.finish(take(fields));
}

const identifier = (value: unknown) => read({ id: value }, (fields) => fields.identifier("id"));

function refused(problem: string, field = "id") {
  return { ok: false, problems: [{ field, problem }] };
}

describe("an identifier", () => {
  test.each(["7001", "0001", "0", " x ", "fiber@home", "नेपाल", "x".repeat(64)])(
    "may be %j, and is taken exactly",
    (text) => {
      expect(identifier(text)).toEqual({ ok: true, value: text });
    },
  );

  test.each([[true], [null], [[]], [["7001"]], [{}]])("may not be %j, which is no string", (value) => {
    expect(identifier(value)).toEqual(refused("must be a string"));
  });

  // JSON text, because a number must not become a float first.
  const written = (json: string) => {
    const fields = new FieldReader(readJson(`{"id": ${json}}`) as JsonObject);
    return fields.finish(fields.identifier("id"));
  };

  test.each(["0", "7001", "9841000001", "123456789012345678901234567890"])(
    "may be the JSON integer %s, and is its digits",
    (digits) => {
      expect(written(digits)).toEqual({ ok: true, value: digits });
    },
  );

  test.each(["-1", "-0", "1.0", "1e3", "1E3"])("may not be %s, which has more than digits", (json) => {
    expect(written(json)).toEqual(refused("must be a string"));
  });

  test("that is an integer is held to the same length", () => {
    expect(written("9".repeat(65))).toEqual(refused("must have at most 64 characters"));
  });

  test("in a provider's file is a string, because a number has lost its leading zeros", () => {
    const stated = read({ id: 7001 }, (fields) => fields.statedIdentifier("id"));
    expect(stated).toEqual(refused("must be a string"));
  });

  test("is required, and must not be empty", () => {
    expect(identifier(undefined)).toEqual(refused("is required"));
    expect(identifier("")).toEqual(refused("must not be empty"));
  });

  test("is measured in characters, not in the units of its encoding", () => {
    expect(identifier("😀".repeat(64))).toEqual({ ok: true, value: "😀".repeat(64) });
    expect(identifier("😀".repeat(65))).toEqual(refused("must have at most 64 characters"));
    expect(identifier("x".repeat(1_000_000))).toEqual(refused("must have at most 64 characters"));
  });

  test.each(["a\u0000", "a\nb", "\t", "\u001f", "a\u007f", "a\r\n", "\u0085", "a\u009b31m"])(
    "may not hold the control character in %j",
    (text) => {
      expect(identifier(text)).toEqual(refused("must not hold control characters"));
    },
  );

  test.each(["\ud800", "a\udc00b", "\ude00\ud83d"])("must be well-formed Unicode, unlike %j", (text) => {
    expect(identifier(text)).toEqual(refused("must be well-formed Unicode"));
  });

  test("that is optional may be missing or null, and else obeys the same rules", () => {
    const optional = (value: unknown) => read({ id: value }, (fields) => fields.optionalText("id", LABEL));
    expect(optional(undefined)).toEqual({ ok: true, value: undefined });
    expect(optional(null)).toEqual({ ok: true, value: undefined });
    expect(optional("0001")).toEqual({ ok: true, value: "0001" });
    expect(optional(1)).toEqual(refused("must be a string"));
    expect(optional("")).toEqual(refused("must not be empty"));
  });
});

describe("a text", () => {
  const text = (value: unknown, rule: Parameters<FieldReader["text"]>[1]) =>
    read({ id: value }, (fields) => fields.text("id", rule));

  test("is trimmed only where the rule says so", () => {
    expect(text("  0001 \t", { maxLength: 4, trim: true })).toEqual({ ok: true, value: "0001" });
    expect(text(" 001", { maxLength: 4 })).toEqual({ ok: true, value: " 001" });
  });

  test("is empty when there is nothing but blanks in it", () => {
    expect(text("   ", { maxLength: 4, trim: true })).toEqual(refused("must not be empty"));
    expect(text("", { maxLength: 4, mayBeEmpty: true })).toEqual({ ok: true, value: "" });
  });

  test("is held to its own limit, which counts after trimming", () => {
    expect(text("  1234  ", { maxLength: 4, trim: true })).toMatchObject({ ok: true });
    expect(text("12345", { maxLength: 4 })).toEqual(refused("must have at most 4 characters"));
  });

  test("that is optional may be missing, and is held to its limit", () => {
    const udf = (value: unknown) => read({ udf1: value }, (fields) => fields.optionalText("udf1", { maxLength: 30 }));
    expect(udf(undefined)).toEqual({ ok: true, value: undefined });
    expect(udf("😀".repeat(30))).toMatchObject({ ok: true });
    expect(udf("x".repeat(31))).toEqual(refused("must have at most 30 characters", "udf1"));
  });
});

describe("money in a field", () => {
  // JSON text, because a number must not become a float first.
  const money = (json: string) => {
    const fields = new FieldReader(readJson(`{"amt": ${json}}`) as JsonObject);
    return fields.finish(fields.money("amt", 2));
  };

  test.each(["1130", "1130.0", "1130.00", '"1130"', '"1130.00"'])("is the same when it is sent as %s", (json) => {
    expect(money(json)).toEqual({ ok: true, value: 113_000n });
  });

  test.each(["1e3", "1130.000", "-1", '""'])("may not be %s", (json) => {
    const problem = "must be a plain decimal with at most 2 decimals, without sign, exponent or blanks";
    expect(money(json)).toEqual(refused(problem, "amt"));
  });

  test.each(["true", "null", "[1130]", '{"amt": 1}'])("may not be %s, which is no string and no number", (json) => {
    expect(money(json)).toEqual(refused("must be a string or a number", "amt"));
  });
});

describe("all that is wrong with an object", () => {
  test("is told at once, each by its path", () => {
    const row = { id: true, list: [{ id: "a" }, 2, { id: "" }], inner: { id: null }, words: ["a", 1] };
    const reading = read(row, (fields) => {
      fields.identifier("id");
      fields.objects("list", (item) => item.identifier("id"));
      fields.object("inner", (inner) => inner.identifier("id"));
      fields.labels("words");
      fields.problem("other", "is odd");
    });
    expect(reading.ok ? [] : reading.problems.map(({ field, problem }) => `${field} ${problem}`)).toEqual([
      "id must be a string",
      "list[1] must be an object",
      "list[2].id must not be empty",
      "inner.id must be a string",
      "words[1] must be a string",
      "other is odd",
    ]);
  });

  test("leaves unknown fields of a request in peace, and names those of a file", () => {
    const row = { id: "1", toString: 1, ["x".repeat(100)]: 2 };
    expect(read(row, (fields) => fields.identifier("id"))).toEqual({ ok: true, value: "1" });
    const strict = read(row, (fields) => {
      fields.identifier("id");
      fields.refuseOthers();
    });
    const problems = ["toString", "x".repeat(64)].map((field) => ({ field, problem: "is not a known field" }));
    expect(strict).toEqual({ ok: false, problems });
  });
});
