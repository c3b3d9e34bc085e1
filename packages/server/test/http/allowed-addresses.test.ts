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

  test("is refused elsewhere, in every operation and version, and not told what would be allowed", async () => {
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
  test("is ignored where no proxy is trusted", async () => {
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

  test.each([
    ["the only entry", INSIDE, 200],
    ["the only entry", OUTSIDE, 403],
    ["the right-most, whatever the caller has put before it", `${INSIDE}, ${OUTSIDE}`, 403],
    ["the right-most, whatever the caller has put before it", `junk, ${OUTSIDE}, ${INSIDE}`, 200],
    ["the right-most that is no trusted proxy's", `${OUTSIDE}, ${INSIDE}, 10.1.2.3, 10.3.2.1`, 200],
    ["the right-most that is no trusted proxy's", `${INSIDE}, ${OUTSIDE}, 10.1.2.3`, 403],
    ["the left-most, where all are trusted proxies'", "10.1.2.3, 10.3.2.1", 403],
    ["the right-most, though the caller has put empty ones before it", `,, ${OUTSIDE},,${INSIDE}`, 200],
    ["an IPv6 address", "2001:DB8:0::7", 200],
    ["an IPv4 address in IPv6's form", `::ffff:${INSIDE}`, 200],
  ])("of a trusted proxy counts: %s (%s)", async (_, entries, status) => {
    const service = await limitedService({ trustedProxies: PROXIES });
    for (const from of ["10.0.0.1", "::ffff:10.0.0.1", "::1"])
      expect(await statusOf(service, { from, headers: forwarded(entries) })).toBe(status);
  });

  test("of a trusted proxy that ends in no address lets nobody in", async () => {
    const service = await limitedService({ trustedProxies: PROXIES });
    const bad = [`${INSIDE}:4711`, "[2001:db8::7]", `"${INSIDE}"`, "unknown", "", ",", `${INSIDE},junk`, `${INSIDE},`];
    for (const entries of [...bad, `${INSIDE},, 10.0.0.2`])
      expect(await statusOf(service, { from: "10.0.0.1", headers: forwarded(entries) }), entries).toBe(403);
  });

  test("that is missing leaves the proxy's own address", async () => {
    const service = await limitedService({ trustedProxies: PROXIES });
    expect(await statusOf(service, { from: "10.0.0.1" })).toBe(403);
  });

  test("is all that is believed of what a trusted proxy says", async () => {
    const service = await limitedService({ trustedProxies: PROXIES });
    const headers = { "x-real-ip": INSIDE, forwarded: `for=${INSIDE}`, "x-client-ip": INSIDE };
    expect(await statusOf(service, { from: "10.0.0.1", headers })).toBe(403);
  });
});
