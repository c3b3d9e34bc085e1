import fc from "fast-check";
import { expect, test } from "vitest";
import { serializeListing } from "../../src/http/versions/shared-list.ts";

const bouquets = fc.array(
  fc.record({ code: fc.string(), name: fc.string({ unit: "grapheme" }), price: fc.integer({ min: 1 }) }),
);

test.each(["tv", "internet", "iptv"])("a listing of %s is written as its serializer would write it", (service) => {
  fc.assert(
    fc.property(bouquets, fc.string(), (list, name) => {
      const body = { checkoutId: name, [service]: { subscriptions: [{ name }], bouquets: list } };
      const envelope = { success: true, code: name, body };
      // Twice, since a list that was seen is written from memory.
      for (let turn = 0; turn < 2; turn += 1) {
        expect(serializeListing(envelope, JSON.stringify)).toBe(JSON.stringify(envelope));
      }
    }),
  );
});

test("what does not end with its list is left to the serializer", () => {
  const envelope = { body: { tv: { bouquets: [{ code: "A" }], last: "[]" } } };
  expect(serializeListing(envelope, JSON.stringify)).toBe(JSON.stringify(envelope));
  expect(serializeListing({ body: {} }, JSON.stringify)).toBe('{"body":{}}');
});
