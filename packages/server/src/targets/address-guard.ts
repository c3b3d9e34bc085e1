import { promises as dns, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { AddressList, canonicalAddress } from "../domain/address-list.ts";
import { ADDRESS_REFUSED, DeliveryFailed } from "../domain/target.ts";

/*
 * A staff member who adds a target must not reach topupd's private network through it, unless the settings allow it. So the
 * IP address is checked after the name is resolved, and the connection uses exactly this address.
 */

/** Addresses outside the public internet, by the registries of special-purpose addresses (RFC 6890 and its updates). */
const PRIVATE = new AddressList([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
  // Protocol assignments, documentation, relays, benchmarks.
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  // Multicast, reserved, broadcast.
  "224.0.0.0/3",
  // All of IPv6 except the public 2000::/3. Contains ::1, 64:ff9b::/96, fc00::/7, fe80::/10 and ff00::/8.
  "::/3",
  "4000::/2",
  "8000::/1",
  // Exceptions in 2000::/3: protocol assignments with Teredo, documentation, 6to4, documentation.
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
]);

/** The addresses of a host. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

const resolveHost: Resolve = (host) => dns.lookup(host, { all: true });

/** Keeps targets of all kinds out of private networks. Hosts are names or addresses as in a URL. */
export interface AddressGuard {
  /** Words why a target may not have this host; undefined if it may. */
  problemOf(host: string): Promise<string | undefined>;
  /** A look-up for a socket, which connects to exactly these addresses. */
  readonly lookup: LookupFunction;
  /** Checks a host that is an address: sockets look up only names. @throws DeliveryFailed */
  readonly refuseLiteral: (host: string) => void;
}

/** @param allowed private addresses that targets may have; undefined means none. */
export function addressGuard(allowed: AddressList | undefined, resolve: Resolve = resolveHost): AddressGuard {
  const isRefused = (address: string) => isPrivate(address) && allowed?.has(address) !== true;
  const find = async (host: string): Promise<LookupAddress[] | Error> => {
    const addresses = await resolve(host);
    return addresses.some(({ address }) => isRefused(address)) ? refused() : [...addresses];
  };
  const answer = async (host: string, callback: Parameters<LookupFunction>[2]) => {
    const found = await find(host).catch((error: Error) => error);
    if (found instanceof Error) callback(found, []);
    else callback(null, found);
  };
  return {
    async problemOf(host) {
      const literal = literalAddress(host);
      const addresses = literal === undefined ? await resolve(host).catch(() => []) : [{ address: literal }];
      if (addresses.length === 0) return "has a host whose address cannot be found";
      return addresses.some(({ address }) => isRefused(address)) ? LEADS_TO_PRIVATE : undefined;
    },
    lookup(host, _options, callback) {
      void answer(host, callback);
    },
    refuseLiteral(host) {
      const literal = literalAddress(host);
      if (literal !== undefined && isRefused(literal)) throw refused();
    },
  };
}

const LEADS_TO_PRIVATE = "leads to a private address: if that is meant, allow it in TOPUPD_PRIVATE_TARGETS";

/** The drivers of databases keep only the code of an error. */
function refused(): DeliveryFailed {
  return Object.assign(new DeliveryFailed(ADDRESS_REFUSED), { code: "EACCES" });
}

/** The IP address of a host without a name; in a URL of HTTP, any notation was made canonical. */
function literalAddress(host: string): string | undefined {
  const bare = host.replace(/^\[|\]$/g, "");
  return isIP(bare) === 0 ? undefined : bare;
}

/** True for private addresses, their IPv6 notations, and texts that are no address. */
export function isPrivate(address: string): boolean {
  return canonicalAddress(address) === undefined || PRIVATE.has(address);
}
