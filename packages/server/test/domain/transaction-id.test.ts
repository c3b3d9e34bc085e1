import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatTransactionId,
  randomDigits,
  TRANSACTION_ID_RANDOM_BYTES,
  transactionTime,
} from "../../src/domain/transaction.ts";
import { RUNS } from "./builders.ts";

const anyTime = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const anyRandom = fc.uint8Array({ minLength: TRANSACTION_ID_RANDOM_BYTES, maxLength: TRANSACTION_ID_RANDOM_BYTES });

describe("a transaction id", () => {
  test("has its time and sorts by it, whatever its random part is", () => {
    fc.assert(
      fc.property(anyTime, anyTime, anyRandom, anyRandom, (one, other, random, otherRandom) => {
        fc.pre(one !== other);
        // The alphabet has no characters that look alike.
        expect(formatTransactionId(one, randomDigits(random))).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
        expect(transactionTime(formatTransactionId(one, randomDigits(random)))).toBe(one);
        const isBefore =
          formatTransactionId(one, randomDigits(random)) < formatTransactionId(other, randomDigits(otherRandom));
        expect(isBefore).toBe(one < other);
      }),
      RUNS,
    );
  });

  test("of the same millisecond differs by each of its random bits", () => {
    const ids = Array.from({ length: 80 }, (_, bit) => {
      const random = new Uint8Array(TRANSACTION_ID_RANDOM_BYTES);
      random[bit >> 3] = 1 << (bit & 7);
      return randomDigits(random);
    });
    expect(new Set(ids).size).toBe(80);
  });
});
