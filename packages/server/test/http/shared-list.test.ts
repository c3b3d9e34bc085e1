import fc from "fast-check";
import { expect, test } from "vitest";
import { writeListing } from "../../src/http/versions/v1_0_1.ts";

const bouquets = fc.array(
  fc.record({ code: fc.string(), name: fc.string({ unit: "grapheme" }), price: fc.integer({ min: 1 }) }),
);

test("a listing is written as JSON.stringify writes it", () => {
  const customer = { cuid: "1", first_name: "\u2028", last_name: '"', status: "active" };
  const subscriptions = [{ code: "A", name: "[]}}}", startdate: "x", enddate: "y" }];
  fc.assert(
    fc.property(bouquets, fc.constantFrom("tv", "internet", "iptv"), (list, service) => {
      const connection = service === "tv" ? { stb: "1", status: "active" } : { username: "1", status: "active" };
      const envelope = () => {
        const body = { checkoutId: "c", customer, [service]: { connection, subscriptions, bouquets: list } };
        return { success: true, code: "400aa010", body } as const;
      };
      // Twice, since a list that was seen is written from memory.
      for (let turn = 0; turn < 2; turn += 1) expect(writeListing(envelope())).toBe(JSON.stringify(envelope()));
    }),
  );
});
