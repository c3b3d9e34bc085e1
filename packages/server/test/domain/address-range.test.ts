import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AddressList } from "../../src/domain/address-list.ts";
import { readAddressRange } from "../../src/domain/address-range.ts";

const anyV4 = fc.ipV4();
const anyV6 = fc.ipV6();

describe("a range of addresses", () => {
  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7/32", "203.0.113.7"],
    ["203.0.113.0/24", "203.0.113.0/24"],
    ["128.0.0.0/1", "128.0.0.0/1"],
    ["2001:0DB8:0:0:0:0:0:0/32", "2001:db8::/32"],
    ["2001:db8::1/128", "2001:db8::1"],
    ["::/1", "::/1"],
    ["fe80::/10", "fe80::/10"],
    ["::ffff:203.0.113.0/120", "203.0.113.0/24"],
    ["::ffff:cb00:7107", "203.0.113.7"],
  ])("%s is %s in its canonical form", (text, range) => {
    expect(readAddressRange(text)).toBe(range);
    expect(readAddressRange(range)).toBe(range);
  });

  test.each([
    ["203.0.113.7/24", "must be 203.0.113.0/24 where that range is meant, or 203.0.113.7 alone"],
    ["10.1.2.3/9", "must be 10.0.0.0/9 where that range is meant, or 10.1.2.3 alone"],
    ["2001:db8::1/32", "must be 2001:db8::/32 where that range is meant, or 2001:db8::1 alone"],
    ["::ffff:203.0.113.7/120", "must be 203.0.113.0/24 where that range is meant, or 203.0.113.7 alone"],
  ])("%s has bits beyond its prefix, and the right one is named", (text, problem) => {
    expect(readAddressRange(text)).toEqual({ problem });
  });

  test.each(["0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96", "203.0.113.7/0"])("%s is all there are", (text) => {
    expect(readAddressRange(text)).toEqual({ problem: "must not be all addresses there are" });
  });

  test("is nothing else", () => {
    const words = ["", "all", "example.org", "[2001:db8::1]", "fe80::1%eth0", " 203.0.113.7", "203.0.113.7\n"];
    const addresses = ["203.0.113", "203.0.113.07", "203.0.113.256", "2001:db8:::1", "::ffff:203.0.113.0/24"];
    const prefixes = ["/33", "/024", "/", "/-1", "/24/24", "/255.255.255.0"].map((prefix) => `203.0.113.0${prefix}`);
    const problem = "must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32";
    for (const text of [...words, ...addresses, ...prefixes, "2001:db8::/129", "2001:db8::/32 "])
      expect(readAddressRange(text), text).toEqual({ problem });
  });

  test("around any address, of any length, is named by its first address and has that address in it", () => {
    fc.assert(
      fc.property(fc.oneof(anyV4, anyV6), fc.integer({ min: 1, max: 128 }), (address, length) => {
        const prefix = address.includes(":") ? length : Math.ceil(length / 4);
        const answer = readAddressRange(`${address}/${prefix}`);
        const range = typeof answer === "string" ? answer : / be (\S+) where/.exec(answer.problem)?.[1];
        // An IPv4 address in IPv6's form, with a prefix that reaches beyond it, is no range.
        if (range === undefined) return;
        expect(readAddressRange(range)).toBe(range);
        expect(new AddressList([range]).has(address)).toBe(true);
      }),
      { seed: 20261120, numRuns: 300 },
    );
  });
});

describe("a list of addresses", () => {
  const list = new AddressList(["203.0.113.0/24", "198.51.100.7", "2001:db8::/32", "::/64"]);

  test("has what is in one of its ranges, however it is written, and nothing else", () => {
    const v4 = ["203.0.113.0", "203.0.113.255", "198.51.100.7", "::ffff:198.51.100.7", "0:0:0:0:0:FFFF:CB00:7101"];
    const has = [...v4, "2001:db8:ffff::1", "2001:DB8::1%eth0", "::1"];
    const others = ["203.0.112.255", "203.0.114.0", "198.51.100.8", "2001:db9::1", "::ffff:8.8.8.8", undefined];
    const hasNot = [...others, "203.0.113.7:4711", "[2001:db8::1]", "unknown", "203.0.113.7 ", ""];
    expect(has.filter((address) => !list.has(address))).toEqual([]);
    expect(hasNot.filter((address) => list.has(address))).toEqual([]);
  });

  test("with something in it that is no range has the rest, and an empty one has nobody", () => {
    const odd = new AddressList(["203.0.113.7", "0.0.0.0/0", "everybody", "10.0.0.1/8"]);
    const addresses = ["203.0.113.7", "8.8.8.8", "10.0.0.1", "everybody"];
    expect(addresses.filter((address) => odd.has(address))).toEqual(["203.0.113.7"]);
    expect(new AddressList([]).has("203.0.113.7")).toBe(false);
  });
});
