import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hmacSha256 } from "../../src/domain/checkout.ts";
import { RUNS } from "./builders.ts";

test("HMAC-SHA-256 is the runtime's own, for every key and message, and again", () => {
  const input = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), input, input, (key, first, second) => {
      for (const message of [first, second, first]) {
        const digest = Buffer.from(hmacSha256(key, message), "binary").toString("hex");
        expect(digest).toBe(createHmac("sha256", key).update(message).digest("hex"));
      }
    }),
    RUNS,
  );
});

test("HMAC-SHA-256 refuses a key that would have to be hashed first", () => {
  expect(() => hmacSha256(new Uint8Array(65), new Uint8Array(1))).toThrow(RangeError);
});
