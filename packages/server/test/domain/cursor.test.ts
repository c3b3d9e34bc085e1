import fc from "fast-check";
import { expect, test } from "vitest";
import { openCursor, sealCursor } from "../../src/domain/cursor.ts";

const secretOf = (id: number) => ({ id, key: Buffer.alloc(32, id), createdAt: 0 });
const OWNER = { list: "partner/top-ups", partnerId: 1, environment: "trial" } as const;
const CONTENT = { from: "2026-11-20", place: "नगद" };
const CURSOR = sealCursor(secretOf(1), OWNER, CONTENT, Buffer.alloc(12, 7));

test("a cursor opens for its owner, also after the secret was replaced, and tells nothing itself", () => {
  expect(openCursor([secretOf(2), secretOf(1)], OWNER, CURSOR)).toEqual(CONTENT);
  expect(openCursor([secretOf(2)], OWNER, CURSOR)).toBeUndefined();
  expect(Buffer.from(CURSOR, "base64url").includes("2026")).toBe(false);
});

test.each([{ list: "partner/account/entries" }, { partnerId: 11 }, { environment: "production" } as const])(
  "it does not open for %j",
  (other) => expect(openCursor([secretOf(1)], { ...OWNER, ...other }, CURSOR)).toBeUndefined(),
);

test("no altered cursor opens, and none fails", () => {
  const bytes = Buffer.from(CURSOR, "base64url");
  const altered = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })).map(([at, by]) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] as number) ^ by;
    return copy.toString("base64url");
  });
  const cut = fc.nat(bytes.length - 1).map((length) => bytes.subarray(0, length).toString("base64url"));
  fc.assert(
    fc.property(fc.oneof(altered, cut, fc.string()), (text) => {
      expect(openCursor([secretOf(1)], OWNER, text)).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});
