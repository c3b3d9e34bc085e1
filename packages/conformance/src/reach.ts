import type { Exchange } from "./exchange.ts";
import type { Service } from "./facts.ts";
import { findPackages } from "./read.ts";
import { asArray, asText, member } from "./shape.ts";

/** The latest end and the number of the subscriptions of one code. */
interface Reach {
  readonly end: string;
  readonly count: number;
}

/** Reaches by the subscription's code, which may be the bouquet's or another. */
type Reaches = ReadonlyMap<string, Reach>;

/** Whether a later listing shows more than an earlier one; undefined if one of them cannot be read. */
export function hasGrown(
  from: Exchange | undefined,
  to: Exchange | undefined,
  service: Service,
  code?: string,
): boolean | undefined {
  const [earlier, later] = [reachesOf(from, service), reachesOf(to, service)];
  if (earlier === undefined || later === undefined) return undefined;
  const codes = code === undefined ? [...later.keys()] : [code];
  return codes.some((each) => isMore(earlier.get(each), later.get(each)));
}

/** Number of listings that show more than the one before. Unreadable listings are skipped. */
export function countGrowths(listings: readonly Exchange[], service: Service): number {
  const readable = listings.filter((listing) => reachesOf(listing, service) !== undefined);
  return readable.filter((listing, index) => hasGrown(readable[index - 1], listing, service) === true).length;
}

function reachesOf(exchange: Exchange | undefined, service: Service): Reaches | undefined {
  const subscriptions = asArray(member(findPackages(exchange, service), "subscriptions"));
  if (subscriptions === undefined) return undefined;
  const reaches = new Map<string, Reach>();
  for (const subscription of subscriptions) {
    const code = asText(member(subscription, "code")) ?? "";
    const end = asText(member(subscription, "enddate")) ?? "";
    const known = reaches.get(code);
    // Timestamps of the interface's form sort as text.
    reaches.set(code, {
      end: known !== undefined && known.end > end ? known.end : end,
      count: (known?.count ?? 0) + 1,
    });
  }
  return reaches;
}

function isMore(from: Reach = { end: "", count: 0 }, to: Reach = from): boolean {
  return to.end > from.end || to.count > from.count;
}
