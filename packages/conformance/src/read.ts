import { bodyOf, type Exchange, isSuccess } from "./exchange.ts";
import type { Connection, Listing, Service, Version, VersionFacts } from "./facts.ts";
import { asArray, asObject, asText, type JsonObject, member } from "./shape.ts";

/*
 * Reads answers leniently: a value in the wrong place or of the wrong type is found too. One check reports the fault, and
 * the others can continue.
 */

/** The connections, in the place of either version. The version's own place comes first. */
export function findConnections(body: JsonObject | undefined, version: Version): JsonObject | undefined {
  const customer = member(body, "customer");
  const own = version === "v1.0.1" ? member(customer, "connections") : member(body, "connection");
  const places = [customer, body].flatMap((place) => [member(place, "connections"), member(place, "connection")]);
  return [own, ...places].map(asObject).find((place) => place !== undefined);
}

export function readConnections(
  body: JsonObject | undefined,
  service: Service,
  version: Version,
): readonly Connection[] {
  const items = asArray(member(findConnections(body, version), service)) ?? [];
  return items.flatMap((item) => {
    const reqId =
      asText(member(item, nameOf(service))) ?? asText(member(item, "stb")) ?? asText(member(item, "username"));
    return reqId === undefined ? [] : [{ service, reqId, isActive: member(item, "status") === "active" }];
  });
}

/** The field that names a connection. For iptv, topupd decides this. */
export function nameOf(service: Service): "stb" | "username" {
  return service === "tv" ? "stb" : "username";
}

/** The packages under the key of this service, or of another. */
export function findPackages(exchange: Exchange | undefined, service: Service): JsonObject | undefined {
  const body = bodyOf(exchange);
  return [service, "internet", "tv", "iptv"]
    .map((key) => asObject(member(body, key)))
    .find((found) => found !== undefined);
}

export function readCheckoutId(exchange: Exchange | undefined): string | undefined {
  return asText(member(bodyOf(exchange), "checkoutId"));
}

/**
 * A bouquet's price as a string for `amt`. The version's own name comes first; undefined if it is no plain number above
 * zero.
 */
export function priceOf(bouquet: unknown, version: Version): string | undefined {
  const names = version === "v1.0.0" ? ["amt", "price"] : ["price", "amt"];
  const price = names.map((name) => asText(member(bouquet, name))).find((text) => text !== undefined);
  return price !== undefined && /^\d+(\.\d+)?$/.test(price) && Number(price) > 0 ? price : undefined;
}

export function readResult(exchange: Exchange | undefined): JsonObject | undefined {
  return asObject(member(bodyOf(exchange), "result"));
}

export function txnIdOf(exchange: Exchange | undefined): string | undefined {
  return asText(member(readResult(exchange), "txnId"));
}

/**
 * Whether a second answer also claims a top-up. A result with another status may be something else, such as a rejected
 * request: the interface does not list the statuses.
 */
export function claimsTopUp(repeat: Exchange | undefined, topUp: Exchange | undefined): boolean {
  const [status, first] = [repeat, topUp].map((exchange) => member(readResult(exchange), "status"));
  return isSuccess(repeat) && (typeof status !== "string" || status === "success" || status === first);
}

/** Whether an answer refuses a top-up, in any form: the interface shows none. HTTP 5xx proves nothing. */
export function saysNo(answer: Exchange, topUp: Exchange | undefined): boolean {
  return answer.answered && answer.status < 500 && !claimsTopUp(answer, topUp);
}

/** All listings of a version, including those around the top-up. */
export function listingsOf({ listings, spending }: VersionFacts): readonly Listing[] {
  const connection = spending?.plan?.connection;
  if (connection === undefined) return listings;
  const isCertain = listings.some((listing) => listing.connection === connection && listing.isCertain);
  return [...listings, ...(spending?.listings ?? []).map((exchange) => ({ connection, isCertain, exchange }))];
}

export function checkoutIdsOf(facts: VersionFacts): string[] {
  return listingsOf(facts).flatMap(({ exchange }) => readCheckoutId(exchange) ?? []);
}
