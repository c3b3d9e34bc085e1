import { describe, expect, test } from "vitest";
import { AddressList } from "../../src/domain/address-list.ts";
import { by } from "../support/by.ts";
import type { CallOptions, OpenOptions, TestService } from "../support/open-service.ts";
import { partnersOf } from "../support/partners.ts";
import { startTestService } from "../support/service.ts";

const OFFICE = new AddressList(["203.0.113.0/24", "2001:db8::/32"]);
const PROXIES = new AddressList(["10.0.0.0/8", "::1"]);
const INSIDE = "203.0.113.9";
const OUTSIDE = "198.51.100.7";

/** A service whose only partner may call only from its office. */
async function limitedService(options: OpenOptions = {}): Promise<TestService> {
  const service = await startTestService(options);
  await partnersOf(service.store).setAllowedAddresses("wallet", OFFICE, by(service.now));
  return service;
}

async function statusOf(service: TestService, options: CallOptions): Promise<number> {
  return (await service.call("get-customer-information", { code: "1000001" }, options)).status;
}

const forwarded = (value: string) => ({ "x-forwarded-for": value });

describe("a partner with allowed addresses", () => {
  test("is served at each of them", async () => {
    const service = await limitedService();
    for (const from of [INSIDE, `::ffff:${INSIDE}`, "2001:db8::7"]) expect(await statusOf(service, { from })).toBe(200);
  });

  test("is refused elsewhere, in every operation and version, and not told the allowed addresses", async () => {
    const service = await limitedService();
    for (const version of ["v1.0.1", "v1.0.0"] as const) {
      for (const operation of ["get-customer-information", "subscription-package-topup", "txn-status"] as const) {
        const answer = await service.call(operation, {}, { version, from: OUTSIDE });
        expect(answer.status).toBe(403);
        expect(answer.json).toMatchObject({
          success: false,
          code: "400ac007",
          body: { reason: "address_not_allowed" },
        });
        expect(JSON.stringify(answer.json)).not.toContain("203.0");
      }
    }
  });
});

describe("X-Forwarded-For", () => {
  test("is ignored if no proxy is trusted", async () => {
    const service = await limitedService();
    expect(await statusOf(service, { from: OUTSIDE, headers: forwarded(INSIDE) })).toBe(403);
    expect(await statusOf(service, { from: INSIDE, headers: forwarded(OUTSIDE) })).toBe(200);
  });

  test("is ignored from a peer that is no trusted proxy", async () => {
    const service = await limitedService({ trustedProxies: PROXIES });
    expect(await statusOf(service, { from: OUTSIDE, headers: forwarded(INSIDE) })).toBe(403);
    expect(await statusOf(service, { from: OUTSIDE, headers: forwarded(`${INSIDE}, 10.0.0.1`) })).toBe(403);
    expect(await statusOf(service, { from: INSIDE, headers: forwarded(OUTSIDE) })).toBe(200);
  });

  test("of a trusted proxy counts by its right-most entry that is no trusted proxy", async () => {
    const service = await limitedService({ trustedProxies: PROXIES });
    const cases: [string, number][] = [
      [INSIDE, 200],
      [OUTSIDE, 403],
      [`${INSIDE}, ${OUTSIDE}`, 403],
      [`junk, ${OUTSIDE}, ${INSIDE}`, 200],
      [`${OUTSIDE}, ${INSIDE}, 10.1.2.3, 10.3.2.1`, 200],
      [`${INSIDE}, ${OUTSIDE}, 10.1.2.3`, 403],
      ["10.1.2.3, 10.3.2.1", 403],
      [`,, ${OUTSIDE},,${INSIDE}`, 200],
      ["2001:DB8:0::7", 200],
      [`::ffff:${INSIDE}`, 200],
      [`${INSIDE}:51234`, 200],
      [`${OUTSIDE}:51234`, 403],
      [`${INSIDE}:51234, 10.1.2.3:80, [::1]:443`, 200],
      ["[2001:db8::7]:443", 200],
      ["[2001:db8::7]", 200],
      ["[2001:db9::7]:443", 403],
      [`[::ffff:${INSIDE}]:443`, 200],
    ];
    for (const [entries, status] of cases)
      for (const from of ["10.0.0.1", "::ffff:10.0.0.1", "::1"])
        expect(await statusOf(service, { from, headers: forwarded(entries) }), entries).toBe(status);
  });

  test("of a trusted proxy that does not end in an address admits no caller", async () => {
    const service = await limitedService({ trustedProxies: PROXIES });
    const bad = [
      `${INSIDE}:port`,
      `${INSIDE}:`,
      `${INSIDE}:1:2`,
      "[2001:db8::7",
      "[]:443",
      `"${INSIDE}"`,
      "unknown",
      "",
      ",",
      `${INSIDE},junk`,
      `${INSIDE},`,
    ];
    for (const entries of [...bad, `${INSIDE},, 10.0.0.2`])
      expect(await statusOf(service, { from: "10.0.0.1", headers: forwarded(entries) }), entries).toBe(403);
  });

  test("is the only header of a trusted proxy that counts; without it the proxy's own address does", async () => {
    const service = await limitedService({ trustedProxies: PROXIES });
    const headers = { "x-real-ip": INSIDE, forwarded: `for=${INSIDE}`, "x-client-ip": INSIDE };
    for (const sent of [headers, {}]) expect(await statusOf(service, { from: "10.0.0.1", headers: sent })).toBe(403);
  });
});
