import { BlockList, isIP, SocketAddress } from "node:net";

/** A range of IP addresses in canonical form: `203.0.113.0/24`, `2001:db8::/32`, or a single address. */
export type AddressRange = string;

/** Problem of a range, as text after the field's name: "must be ...". */
export interface AddressProblem {
  readonly problem: string;
}

const BITS = { 4: 32, 6: 128 } as const;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;
const WRITTEN = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/;
const MALFORMED = { problem: "must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32" };

/** Reads an address or a CIDR range. A range must be written with its first address. */
export function readAddressRange(text: string): AddressRange | AddressProblem {
  const [, written = "", length] = WRITTEN.exec(text) ?? [];
  const address = canonicalAddress(written);
  if (address === undefined) return MALFORMED;
  const bits = BITS[familyOf(address)];
  if (length === undefined || Number(length) === bits) return address;
  if (Number(length) > bits || isIP(written) !== familyOf(address)) return MALFORMED;
  if (Number(length) === 0) return { problem: "must not be all addresses there are" };
  const isFirst = BigInt.asUintN(bits - Number(length), toNumber(address)) === 0n;
  return isFirst ? `${address}/${length}` : { problem: "must have the range's first address before the slash" };
}

/**
 * The canonical form of an address. An IPv4-mapped IPv6 address becomes IPv4. @returns undefined if it is no address.
 */
export function canonicalAddress(text: string): string | undefined {
  switch (isIP(text)) {
    case 4:
      return text;
    case 6: {
      // The zone names the local interface, not the sender.
      const { address } = new SocketAddress({ address: text.replace(/%.*/, ""), family: "ipv6" });
      return MAPPED.exec(address)?.[1] ?? address;
    }
    default:
      return undefined;
  }
}

/** @param address in the form of {@link canonicalAddress}. */
export function familyOf(address: string): 4 | 6 {
  return address.includes(":") ? 6 : 4;
}

/**
 * The unit for counting callers, in one form: an IPv4 address, or the /64 of an IPv6 address, since one caller
 * owns all of it.
 * @param address undefined or malformed addresses count as one caller.
 */
export function networkOf(address: string | undefined): string {
  const canonical = canonicalAddress(address ?? "");
  if (canonical === undefined) return "unknown";
  return familyOf(canonical) === 4 ? canonical : `${canonicalAddress(firstOf64(canonical))}/64`;
}

function firstOf64(address: string): string {
  const prefix = (toNumber(address) >> 64n).toString(16).padStart(16, "0");
  return `${prefix.replace(/.{4}/g, "$&:")}:`;
}

function toNumber(address: string): bigint {
  if (familyOf(address) === 4) return joined(address.split(".").map(Number), 8n);
  // A URL writes IPv6 addresses without dots, unlike a socket.
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = [], after = []] = groups.split("::").map(groupsOf);
  const zeros = new Array<number>(8 - before.length - after.length).fill(0);
  return joined([...before, ...zeros, ...after], 16n);
}

function groupsOf(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

function joined(parts: readonly number[], width: bigint): bigint {
  return parts.reduce((value, part) => (value << width) | BigInt(part), 0n);
}

export const MOST_ADDRESS_RANGES = 100;

const FAMILY_NAMES = { 4: "ipv4", 6: "ipv6" } as const;

/** A list of IP address ranges, checked at every request. */
export class AddressList {
  readonly ranges: readonly AddressRange[];
  /** One list for each family: in Node, a range such as ::/64 contains all of IPv4. */
  readonly #blocks = { 4: new BlockList(), 6: new BlockList() };

  /** @param ranges in the form of {@link readAddressRange}. */
  constructor(ranges: readonly AddressRange[]) {
    this.ranges = ranges;
    for (const range of ranges) {
      const [address = "", prefix] = range.split("/");
      const family = familyOf(address);
      if (prefix === undefined) this.#blocks[family].addAddress(address, FAMILY_NAMES[family]);
      else this.#blocks[family].addSubnet(address, Number(prefix), FAMILY_NAMES[family]);
    }
  }

  /** @param address in any form; malformed addresses are in no list. */
  has(address: string | undefined): boolean {
    const canonical = address === undefined ? undefined : canonicalAddress(address);
    if (canonical === undefined) return false;
    const family = familyOf(canonical);
    return this.#blocks[family].check(canonical, FAMILY_NAMES[family]);
  }
}

/** Whether both lists have the same ranges in the same order; undefined means any address. */
export function sameRanges(one: AddressList | undefined, other: AddressList | undefined): boolean {
  return JSON.stringify(one?.ranges) === JSON.stringify(other?.ranges);
}

/** The sender of a request. `ip` is computed only if it is read: behind a proxy, that takes time. */
export interface Peer {
  readonly ip: string | undefined;
}

/** Some proxies write the caller's port: `203.0.113.7:51234`, `[2001:db8::1]:443`. Without one, brackets are optional. */
const FORWARDED = /^(?:([\d.]+)|\[([^\]]+)\])(?::\d{1,5})?$/;

/**
 * The IP address of the caller: the address of the connection, unless that is a trusted proxy. Then the last entry of
 * X-Forwarded-For that is no trusted proxy, without its port. An empty entry comes from a proxy that did not know its sender: entries to
 * the left of it may be forged.
 * @param forwarded the header; several lines are joined by commas.
 * @returns undefined if the header does not show the caller.
 */
export function callerAddress(
  remoteAddress: string | undefined,
  forwarded: string | readonly string[] | undefined,
  trusted: AddressList | undefined,
): string | undefined {
  if (trusted === undefined || forwarded === undefined || !trusted.has(remoteAddress)) return remoteAddress;
  const entries = String(forwarded)
    .split(",")
    .map((entry) => {
      const [, ipv4, ipv6] = FORWARDED.exec(entry.trim()) ?? [];
      return ipv4 ?? ipv6 ?? entry.trim();
    });
  const caller = entries.findLast((entry) => entry === "" || !trusted.has(entry)) ?? entries[0];
  return caller === "" ? undefined : caller;
}
