import fc from "fast-check";
import { expect, test } from "vitest";
import type { Packages } from "../../src/partner/customers.ts";
import { VERSIONS } from "../../src/partner/versions/all.ts";

const bouquets = fc.array(
  fc.record({
    ...{ code: fc.string(), name: fc.string({ unit: "grapheme" }), price: fc.bigInt({ min: 1n, max: 99_999n }) },
    ...{ segments: fc.constant(["secret"]) },
  }),
);

test.each(VERSIONS)("a listing of $name is written as JSON.stringify writes it", ({ packages: { render, write } }) => {
  const customer = { cuid: "1", firstName: "\u2028", lastName: '"', mobile: undefined, status: "active" };
  const subscriptions = [{ bouquet: { code: "A", name: "[]}}}" }, start: "x", end: "y" }];
  fc.assert(
    fc.property(bouquets, fc.constantFrom("tv", "internet", "iptv"), (list, service) => {
      const connection = { service, reqId: "1", status: "active" };
      const packages = { checkoutId: "c", customer, connection, subscriptions, bouquets: list } as unknown as Packages;
      const whole = JSON.stringify({ success: true, code: "400aa010", body: render(packages, 2) });
      expect(whole).not.toContain("secret");
      // The second call uses the remembered text.
      for (let turn = 0; turn < 2; turn += 1) expect(write?.("400aa010", packages, 2)).toBe(whole);
    }),
  );
});
