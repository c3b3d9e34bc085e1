import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonObject, readJson } from "../../../src/domain/json.ts";
import { contractOf } from "../../../src/partner/operations.ts";
import { VERSIONS } from "../../../src/partner/versions/all.ts";

const ajv = new Ajv2020({ strict: false });

/** Texts near every limit: empty, blank, odd characters, lengths around 30 and 64. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "0", " ", "\t", "\u007f", "é", "\u{1f600}", "\u00a0"), maxLength: 70 }),
  fc.constantFrom(29, 30, 31, 63, 64, 65, 66).map((length) => "x".repeat(length)),
  fc.constantFrom(30, 31, 64, 65).map((length) => "\u{1f600}".repeat(length)),
  fc.constantFrom(64, 65).map((length) => ` ${"x".repeat(length)} `),
  fc.constantFrom("tv", "internet", "iptv", "TV", "1130", "1130.00", "1130.000", "01", "1e3", "-1", "9999999999999.99"),
);
/** Amounts near the longest ones, with any number of decimals. */
const amount = fc
  .tuple(fc.integer({ min: 10, max: 17 }), fc.constantFrom("", ".9", ".99", ".99999"))
  .map(([digits, decimals]) => `${"9".repeat(digits)}${decimals}`);
const number = fc.constantFrom(0, 1, 1130, 2847.15, 9999999999999.99, 10000000000000, -1);
const value = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 4, arbitrary: amount },
  number,
  fc.constantFrom(null, true, [], {}),
);

describe.each(VERSIONS)("what the contract of $name says of a request", (version) => {
  const { lookUp, listing, topUp, query } = contractOf(version);
  const forms = { lookUp, listing, topUp, query };

  test.each(Object.entries(forms))("%s is what its reader takes", (_, { request }) => {
    for (const exponent of [0, 2, 4]) {
      const isInContract = ajv.compile(JSON.parse(JSON.stringify(request.schema(exponent))));
      const good = { code: "x", cuid: "1", service: "tv", reqId: "1", checkoutId: "c", bouquetId: "b", amt: "1" };
      const changes = fc.dictionary(
        fc.constantFrom(...Object.keys(good), "udf1", "udf2", "more"),
        fc.option(value, { nil: undefined }),
        { maxKeys: 3 },
      );
      fc.assert(
        fc.property(changes, (changed) => {
          const body = JSON.parse(JSON.stringify({ ...good, ...changed })) as object;
          const isRead = request.read(readJson(JSON.stringify(body)) as JsonObject, exponent).ok;
          // The schema cannot limit the decimals of a number.
          const isFine = "amt" in body && typeof body.amt === "number" && !Number.isInteger(body.amt) && exponent < 2;
          // Integers are accepted as their digits, but the contract allows only strings.
          const isLenient = Object.entries(body).some(([name, given]) => name !== "amt" && Number.isInteger(given));
          if (isLenient) return;
          if (isFine && "amt" in JSON.parse(JSON.stringify(request.schema(exponent))).properties) return;
          expect(isInContract(body), JSON.stringify(body)).toBe(isRead);
        }),
        { numRuns: 400 },
      );
    }
  });
});
