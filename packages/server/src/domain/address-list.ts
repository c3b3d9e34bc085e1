import { BlockList } from "node:net";
import { type AddressRange, canonicalAddress, familyOf } from "./address-range.ts";

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
