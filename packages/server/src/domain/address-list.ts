import { BlockList, isIP, SocketAddress } from "node:net";

/** A range of addresses in its one canonical form: `203.0.113.0/24`, `2001:db8::/32`, or an address by itself. */
export type AddressRange = string;

/** What was said instead of a range, as it goes on after the name of the field: "must be ...". */
export interface AddressProblem {
  readonly problem: string;
}

const BITS = { 4: 32, 6: 128 } as const;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/;
const WRITTEN = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/;
const MALFORMED = { problem: "must be an IP address, or a range such as 203.0.113.0/24 or 2001:db8::/32" };

/** Reads an address or a range in CIDR notation. A range that is not written by its first address is refused. */
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

/** An IPv4 address that an IPv6 address stands for is that IPv4 address. @returns undefined for what is no address. */
export function canonicalAddress(text: string): string | undefined {
  switch (isIP(text)) {
    case 4:
      return text;
    case 6: {
      // The zone says by which interface the address is reached, and not whose it is.
      const { address } = new SocketAddress({ address: text.replace(/%.*/, ""), family: "ipv6" });
      return MAPPED.exec(address)?.[1] ?? address;
    }
    default:
      return undefined;
  }
}

/** @param address as {@link canonicalAddress} gives it. */
export function familyOf(address: string): 4 | 6 {
  return address.includes(":") ? 6 : 4;
}

/**
 * What stands for a caller where callers are counted: an IPv4 address, or the /64 of an IPv6 address, of which one caller
 * has all. One form for each. @param address undefined, or none, is one caller too.
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
  // Unlike a socket, a URL writes no part of an IPv6 address with dots.
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

/** Addresses that are told from all others. Made once, and then asked for every request. */
export class AddressList {
  readonly ranges: readonly AddressRange[];
  /** One of each family: in Node's, a range such as ::/64 has all of IPv4 in it. */
  readonly #blocks = { 4: new BlockList(), 6: new BlockList() };

  /** @param ranges as readAddressRange gives them. */
  constructor(ranges: readonly AddressRange[]) {
    this.ranges = ranges;
    for (const range of ranges) {
      const [address = "", prefix] = range.split("/");
      const family = familyOf(address);
      if (prefix === undefined) this.#blocks[family].addAddress(address, FAMILY_NAMES[family]);
      else this.#blocks[family].addSubnet(address, Number(prefix), FAMILY_NAMES[family]);
    }
  }

  /** @param address in whatever form; what is none is in no list. */
  has(address: string | undefined): boolean {
    const canonical = address === undefined ? undefined : canonicalAddress(address);
    if (canonical === undefined) return false;
    const family = familyOf(canonical);
    return this.#blocks[family].check(canonical, FAMILY_NAMES[family]);
  }
}

/** Whether the same ranges are written in the same order; undefined is any address. */
export function sameRanges(one: AddressList | undefined, other: AddressList | undefined): boolean {
  return JSON.stringify(one?.ranges) === JSON.stringify(other?.ranges);
}

/** A request's sender, asked for the address only where there is a list: behind a proxy, that takes some reading. */
export interface Peer {
  readonly ip: string | undefined;
}

/**
 * From where a request comes: its connection's address, unless that is a trusted proxy's. Then X-Forwarded-For is
 * read from right to left, and the first entry that is no trusted proxy's is the caller's address. An entry that is
 * empty was written by a proxy that did not know: what is to its left, anybody may have put there.
 * @param forwarded the header, several lines of it joined by commas.
 * @returns undefined where the header ends in nothing that is known.
 */
export function callerAddress(
  remoteAddress: string | undefined,
  forwarded: string | readonly string[] | undefined,
  trusted: AddressList | undefined,
): string | undefined {
  if (trusted === undefined || forwarded === undefined || !trusted.has(remoteAddress)) return remoteAddress;
  const entries = String(forwarded)
    .split(",")
    .map((entry) => entry.trim());
  const caller = entries.findLast((entry) => entry === "" || !trusted.has(entry)) ?? entries[0];
  return caller === "" ? undefined : caller;
}
