import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AddressList, networkOf, readAddressRange } from "../../src/domain/address-list.ts";

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
    ["::ffff:cb00:7107", "203.0.113.7"],
  ])("%s is %s in its canonical form", (text, range) => {
    expect(readAddressRange(text)).toBe(range);
    expect(readAddressRange(range)).toBe(range);
  });

  test.each(["203.0.113.7/24", "10.1.2.3/9", "2001:db8::1/32", "::1.2.3.4/112"])(
    "%s has bits beyond its prefix",
    (text) => {
      expect(readAddressRange(text)).toEqual({ problem: "must have the range's first address before the slash" });
    },
  );

  test.each(["0.0.0.0/0", "::/0", "203.0.113.7/0"])("%s is all there are", (text) => {
    expect(readAddressRange(text)).toEqual({ problem: "must not be all addresses there are" });
  });

  test("is nothing else", () => {
    const words = ["", "all", "example.org", "[2001:db8::1]", "fe80::1%eth0", " 203.0.113.7", "203.0.113.7\n"];
    const addresses = ["203.0.113", "203.0.113.07", "203.0.113.256", "2001:db8:::1", "::ffff:203.0.113.0/120"];
    const prefixes = ["/33", "/024", "/", "/-1", "/24/24", "/255.255.255.0"].map((prefix) => `203.0.113.0${prefix}`);
    const problem = "must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32";
    for (const text of [...words, ...addresses, ...prefixes, "2001:db8::/129", "2001:db8::/32 "])
      expect(readAddressRange(text), text).toEqual({ problem });
  });

  test("of any address has that address in it", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        const range = readAddressRange(address) as string;
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

  test("that is empty has nobody", () => {
    expect(new AddressList([]).has("203.0.113.7")).toBe(false);
  });
});

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::ffff:cb00:7107", "203.0.113.7"],
  ["2001:DB8::1", "2001:db8::/64"],
  ["2001:db8:0:0:ffff::9%eth0", "2001:db8::/64"],
  ["2001:db8:0:1::1", "2001:db8:0:1::/64"],
  ["::1", "::/64"],
  ["not known", "unknown"],
  [undefined, "unknown"],
])("%s is counted as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
