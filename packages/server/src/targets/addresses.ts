import { promises as dns, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { AddressList, canonicalAddress } from "../domain/address-list.ts";
import { DeliveryFailed } from "../workers/sender.ts";

/*
 * Where a webhook may be sent. Whoever may add a target must not reach, through topupd, what only topupd's machine and
 * its network can: so an address is judged after the name is resolved, and that very address is connected to.
 */

/** Not addresses of the public internet, by the registries of special-purpose addresses (RFC 6890 and its updates). */
const PRIVATE = new AddressList([
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"],
  // Protocol assignments, documentation, relays, benchmarks.
  ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  // Multicast, reserved, broadcast.
  "224.0.0.0/3",
  // Of IPv6 all but 2000::/3, which is what is public: ::1, 64:ff9b::/96, fc00::/7, fe80::/10 and ff00::/8 are here.
  ...["::/3", "4000::/2", "8000::/1"],
  // In 2000::/3: protocol assignments with Teredo, documentation, 6to4, documentation.
  ...["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"],
]);

/** The addresses of a host. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export const resolveHost: Resolve = (host) => dns.lookup(host, { all: true });

/** @returns why a webhook may not have this URL, as it goes on after "the URL"; undefined where it may. */
export async function refuseUrl(
  text: string,
  allowPrivate: boolean,
  resolve: Resolve = resolveHost,
): Promise<string | undefined> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return "must begin with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must hold no user name and no password";
  if (allowPrivate) return undefined;
  const literal = literalAddress(url);
  const addresses = literal === undefined ? await resolve(url.hostname).catch(() => []) : [{ address: literal }];
  if (addresses.length === 0) return "has a host whose address cannot be found";
  return addresses.some(({ address }) => isPrivate(address))
    ? "leads to a private address: if that is meant, allow it with --allow-private (webhook.allowPrivate in the API)"
    : undefined;
}

/** The address that stands in a URL in place of a name, in whatever notation it was written. */
export function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? undefined : host;
}

/** Also what is no address. An IPv4 address that is written as one of IPv6 is judged as what it is. */
export function isPrivate(address: string): boolean {
  return canonicalAddress(address) === undefined || PRIVATE.has(address);
}

/** Resolves for a socket, which then connects to these addresses and asks no more. */
export function lookupFor(allowPrivate: boolean, resolve: Resolve): LookupFunction {
  const find = async (host: string): Promise<LookupAddress[] | Error> => {
    const addresses = await resolve(host);
    const isRefused = !allowPrivate && addresses.some(({ address }) => isPrivate(address));
    return isRefused ? new DeliveryFailed(PRIVATE_ADDRESS) : [...addresses];
  };
  const answer = async (host: string, callback: Parameters<LookupFunction>[2]) => {
    const found = await find(host).catch((error: Error) => error);
    if (found instanceof Error) callback(found, []);
    else callback(null, found);
  };
  return (host, _options, callback) => {
    void answer(host, callback);
  };
}

export const PRIVATE_ADDRESS = "the address is private";
