import { createHmac, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hmacSha256 } from "../../src/domain/hmac.ts";

const bytes = (hex: string) => Buffer.from(hex, "hex");
const hexOf = (digest: string) => Buffer.from(digest, "binary").toString("hex");

describe("HMAC-SHA-256", () => {
  // RFC 4231, test cases 1, 2 and 3.
  test.each([
    [
      "0b".repeat(20),
      Buffer.from("Hi There").toString("hex"),
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
    ],
    [
      Buffer.from("Jefe").toString("hex"),
      Buffer.from("what do ya want for nothing?").toString("hex"),
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ],
    ["aa".repeat(20), "dd".repeat(50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"],
  ])("of key %s", (key, message, digest) => {
    expect(hexOf(hmacSha256(bytes(key), bytes(message)))).toBe(digest);
  });

  test("is the runtime's own, for every key and message, and again", () => {
    const input = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), input, input, (key, first, second) => {
        for (const message of [first, second, first]) {
          expect(hexOf(hmacSha256(key, message))).toBe(createHmac("sha256", key).update(message).digest("hex"));
        }
      }),
    );
  });

  test("refuses a key that would have to be hashed first", () => {
    expect(() => hmacSha256(randomBytes(65), Buffer.alloc(1))).toThrow(RangeError);
  });
});
