import { bodyOf, type Exchange, isSuccess } from "./exchange.ts";
import type { Connection, Service, Version } from "./facts.ts";
import { asArray, asObject, asText, type JsonObject, member } from "./shape.ts";

/*
 * Reads answers with goodwill: what stands in the wrong place or has the wrong type is found all the same. That
 * something is wrong is said by the check of just that, and everything behind it can still be looked at.
 */

/**
 * The connections wherever they stand, by the names and places of either version. The version's own place comes first:
 * a service may put something else under the other version's name.
 */
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

/** The field that names a connection (interface, section 2, Connections; for iptv: decisions). */
export function nameOf(service: Service): "stb" | "username" {
  return service === "tv" ? "stb" : "username";
}

/** The object under the service's key, or under another service's. */
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
 * A bouquet's price as it is sent in `amt`: a string, as in the interface's examples. Its name in the version comes
 * first (interface, section 9); undefined if it is no plain number above zero.
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
 * Whether a second answer claims a top-up, too. One whose result has another status than a success tells of something
 * else, such as an attempt that was rejected: which statuses there are is not shown (interface, section 2).
 */
export function claimsTopUp(repeat: Exchange | undefined, topUp: Exchange | undefined): boolean {
  const [status, first] = [repeat, topUp].map((exchange) => member(readResult(exchange), "status"));
  return isSuccess(repeat) && (typeof status !== "string" || status === "success" || status === first);
}

/** Whether an answer says no to a top-up, in whatever form: none is shown (interface, section 7). HTTP 5xx leaves it open. */
export function saysNo(answer: Exchange, topUp: Exchange | undefined): boolean {
  return answer.answered && answer.status < 500 && !claimsTopUp(answer, topUp);
}
