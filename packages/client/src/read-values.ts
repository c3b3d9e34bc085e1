import { readAmount } from "./amounts.ts";
import { isObject, type JsonObject, own } from "./read-json.ts";
import type {
  Bouquet,
  Connection,
  Customer,
  CustomerProfile,
  PackageListing,
  Service,
  Subscription,
  TransactionResult,
} from "./values.ts";

/** Fields that name a connection. */
const NAMES: Readonly<Record<Service, readonly [string, ...string[]]>> = {
  tv: ["stb"],
  internet: ["username"],
  iptv: ["username", "stb"],
};

export type Version = "v1.0.1" | "v1.0.0";

/** A value that differs from the interface. The message names the field, never its value. */
export class WrongShape extends Error {
  override readonly name = "WrongShape";
}

interface Asked {
  readonly cuid: string;
  readonly service: Service;
  readonly reqId: string;
}

/** Reads the body of get-customer-information. In v1.0.0, `connection` is beside `customer`. */
export function readCustomer(body: JsonObject, version: Version): Customer {
  const customer = objectAt(body, "customer");
  const connections = version === "v1.0.1" ? objectAt(customer, "connections") : objectAt(body, "connection");
  const of = (service: Service) => readConnections(connections, service);
  return { ...readProfile(customer), connections: { tv: of("tv"), internet: of("internet"), iptv: of("iptv") } };
}

/**
 * Reads the body of get-subscription-package. A bouquet's price is `price`, in v1.0.0 `amt`. A listing of another customer
 * or connection is refused: a proxy may have mixed up answers, and its checkoutId would top up another customer.
 */
export function readListing(body: JsonObject, version: Version, { cuid, service, reqId }: Asked): PackageListing {
  const listing = objectAt(body, service);
  const priceName = version === "v1.0.1" ? "price" : "amt";
  const customer = readProfile(objectAt(body, "customer"));
  if (customer.cuid !== cuid) throw new WrongShape("cuid: the listing is of another customer");
  const shown = objectAt(listing, "connection");
  const connection = readConnection(shown, service) ?? { reqId, status: textAt(shown, "status") };
  // An iptv connection may have both names, and the request may use either.
  const isNamed = NAMES[service].some((name) => own(shown, name) === reqId);
  if (connection.reqId !== reqId && !isNamed) throw new WrongShape("connection: the listing is of another connection");
  return {
    checkoutId: identifierAt(body, "checkoutId"),
    customer,
    service,
    connection: { ...connection, reqId },
    subscriptions: listAt(listing, "subscriptions").map(readSubscription),
    bouquets: listAt(listing, "bouquets").map((bouquet) => readBouquet(bouquet, priceName)),
  };
}

/** Reads the body of subscription-package-topup and txn-status. */
export function readResult(body: JsonObject, checkoutId: string): TransactionResult {
  const result = objectAt(body, "result");
  const orderId = identifierAt(result, "orderId");
  if (orderId !== checkoutId) throw new WrongShape("orderId: the result is of another checkoutId");
  return readTransaction(result);
}

export function readTransaction(result: JsonObject): TransactionResult {
  return {
    orderId: identifierAt(result, "orderId"),
    txnId: identifierAt(result, "txnId"),
    cuid: identifierAt(result, "cuid"),
    reqId: identifierAt(result, "reqId"),
    bouquetId: identifierAt(result, "bouquetId"),
    amt: amountAt(result, "amt"),
    txnDate: textAt(result, "txnDate"),
    status: identifierAt(result, "status"),
    service: identifierAt(result, "service"),
  };
}

function readProfile(customer: JsonObject): CustomerProfile {
  return {
    cuid: identifierAt(customer, "cuid"),
    first_name: textAt(customer, "first_name"),
    last_name: textAt(customer, "last_name"),
    status: textAt(customer, "status"),
  };
}

/** A deployment without a service may omit its list: digital TV exists only since v1.0.1. */
function readConnections(connections: JsonObject, service: Service): readonly Connection[] {
  if ((own(connections, service) ?? undefined) === undefined) return [];
  return listAt(connections, service).flatMap((item) => readConnection(item, service) ?? []);
}

/** The interface does not show an iptv item: one without a known name is skipped, so that the others can be read. */
function readConnection(item: JsonObject, service: Service): Connection | undefined {
  const name = NAMES[service].find((candidate) => own(item, candidate) !== undefined);
  if (name === undefined && service === "iptv") return undefined;
  return { reqId: identifierAt(item, name ?? NAMES[service][0]), status: textAt(item, "status") };
}

function readSubscription(item: JsonObject): Subscription {
  return {
    code: identifierAt(item, "code"),
    name: textAt(item, "name"),
    startdate: textAt(item, "startdate"),
    enddate: textAt(item, "enddate"),
  };
}

function readBouquet(item: JsonObject, priceName: string): Bouquet {
  return { code: identifierAt(item, "code"), name: textAt(item, "name"), price: amountAt(item, priceName) };
}

export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = own(object, name);
  if (!isObject(value)) throw new WrongShape(`${name}: not an object`);
  return value;
}

export function listAt(object: JsonObject, name: string): readonly JsonObject[] {
  const value = own(object, name);
  if (!Array.isArray(value) || !value.every(isObject)) throw new WrongShape(`${name}: not a list of objects`);
  return value;
}

export function textAt(object: JsonObject, name: string): string {
  const value = own(object, name);
  if (typeof value !== "string") throw new WrongShape(`${name}: not a string`);
  return value;
}

function identifierAt(object: JsonObject, name: string): string {
  const value = textAt(object, name);
  if (value === "") throw new WrongShape(`${name}: empty`);
  return value;
}

export function amountAt(object: JsonObject, name: string): string {
  const amount = readAmount(own(object, name));
  if (amount === undefined) throw new WrongShape(`${name}: not an amount that can be told exactly`);
  return amount;
}
