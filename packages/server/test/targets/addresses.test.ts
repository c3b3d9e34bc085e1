import { describe, expect, test } from "vitest";
import { AddressList } from "../../src/domain/address-list.ts";
import { addressGuard, isPrivate, type Resolve } from "../../src/targets/address-guard.ts";
import { refuseUrl } from "../../src/targets/webhook.ts";

const PUBLIC = [
  ...["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0"],
  ...[
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.3.0",
    "192.167.255.255",
    "198.20.0.0",
    "223.255.255.255",
  ],
  ...["2606:4700::1111", "2400:cb00::1", "2001:4860:4860::8888", "2003::1", "::ffff:1.1.1.1"],
];

const NOT_PUBLIC = [
  ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1"],
  ...["172.31.255.255", "192.168.1.1", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255"],
  ...["198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
  ...["::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1"],
  ...["64:ff9b:1::1", "100::1", "2001::1", "2001:2::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1"],
  ...["fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "localhost", ""],
];

test.each(PUBLIC)("%s is an address of the public internet", (address) => {
  expect(isPrivate(address)).toBe(false);
});

test.each(NOT_PUBLIC)("%s is none", (address) => {
  expect(isPrivate(address)).toBe(true);
});

describe("a webhook's URL", () => {
  const resolveTo =
    (...addresses: string[]): Resolve =>
    () =>
      Promise.resolve(addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
  const unknown: Resolve = () => Promise.reject(new Error("ENOTFOUND"));

  test("passes where its host has public addresses alone", async () => {
    expect(
      await refuseUrl(
        "https://billing.example/topupd",
        addressGuard(undefined, resolveTo("1.1.1.1", "2606:4700::1111")),
      ),
    ).toBe(undefined);
    expect(await refuseUrl("http://1.1.1.1:8080/", addressGuard(undefined, unknown))).toBe(undefined);
  });

  test.each([
    ...["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1.", "%31%32%37.1", "①②⑦.1"],
    ...["[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "169.254.169.254", "0"],
  ])("is refused for the private address %s, which no name server is asked for", async (host) => {
    expect(await refuseUrl(`https://${host}/`, addressGuard(undefined, resolveTo("1.1.1.1")))).toContain(
      "leads to a private address",
    );
  });

  test("is refused where any of its host's addresses is private", async () => {
    const resolve = resolveTo("1.1.1.1", "10.0.0.5");
    expect(await refuseUrl("https://billing.example/", addressGuard(undefined, resolve))).toContain(
      "leads to a private address",
    );
  });

  test("is refused where its host is unknown", async () => {
    expect(await refuseUrl("https://biling.example/", addressGuard(undefined, unknown))).toBe(
      "has a host whose address cannot be found",
    );
  });

  test("leads into a private network only if the settings allow that network", async () => {
    const allowed = new AddressList(["10.0.0.0/24", "::1"]);
    const problemOf = (url: string, ...addresses: string[]) =>
      refuseUrl(url, addressGuard(allowed, resolveTo(...addresses)));
    expect(await problemOf("http://10.0.0.5:3000/")).toBe(undefined);
    expect(await problemOf("http://[::1]/")).toBe(undefined);
    expect(await problemOf("http://billing.internal/", "10.0.0.5", "1.1.1.1")).toBe(undefined);
    const problem = "leads to a private address: if that is meant, allow it in TOPUPD_PRIVATE_TARGETS";
    expect(await problemOf("http://10.0.1.5/")).toBe(problem);
    expect(await problemOf("http://127.0.0.1/")).toBe(problem);
    expect(await problemOf("http://billing.internal/", "10.0.0.5", "10.0.1.5")).toBe(problem);
  });

  test.each(["ftp://billing.example/", "billing.example", "file:///etc/passwd", "https://", "unix:/run/x.sock"])(
    "is refused if it is not HTTP: %s",
    async (url) => {
      expect(await refuseUrl(url, addressGuard(undefined, resolveTo("1.1.1.1")))).toBe(
        "must begin with https:// or http://",
      );
    },
  );

  test.each(["https://maya:hush@billing.example/", "https://maya@billing.example/"])(
    "is refused with credentials in it: %s",
    async (url) => {
      expect(await refuseUrl(url, addressGuard(undefined, resolveTo("1.1.1.1")))).toBe(
        "must hold no user name and no password",
      );
    },
  );
});
