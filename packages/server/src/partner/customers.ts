import type { Bouquet, Service } from "../domain/bouquet.ts";
import { type Catalogue, purchasableBouquets } from "../domain/catalogue.ts";
import { CHECKOUT_NONCE_BYTES, issueCheckout, sealingSecret } from "../domain/checkout.ts";
import {
  type CustomerProfile,
  connectionState,
  openToSales,
  subscriptionsOf,
  type WireStatus,
  wireStatus,
} from "../domain/customer.ts";
import { done, type Result, refused } from "../domain/failure.ts";
import { faultOf } from "../domain/practice.ts";
import type { Subscription } from "../domain/subscription.ts";
import { DAY_MS } from "../domain/wall-time.ts";
import { isPlaceholder } from "../domain/written-value.ts";
import type { Caller, Ports } from "./ports.ts";

export interface LookUpRequest {
  /** A mobile number, customer id, set-top box number or username. */
  readonly code: string;
}

export interface CustomerInformation {
  readonly customer: CustomerProfile;
  readonly connections: readonly ConnectionInformation[];
}

export interface ConnectionInformation {
  readonly service: Service;
  readonly reqId: string;
  readonly status: WireStatus;
}

/** The operation get-customer-information. */
export async function lookUpCustomer(
  { store, clock }: Ports,
  { environment }: Caller,
  { code }: LookUpRequest,
): Promise<Result<CustomerInformation>> {
  const [customer, another] = isPlaceholder(code) ? [] : await store.lookUpCustomers(environment, code);
  if (customer === undefined) return refused("customer_not_found");
  if (another !== undefined) return refused("ambiguous_code");
  const now = store.provider.zone.wallTime(clock());
  const connections = customer.connections.map((connection) => ({
    service: connection.service,
    reqId: connection.reqId,
    status: wireStatus(connection, now),
  }));
  return done({ customer, connections });
}

export interface PackagesRequest {
  readonly cuid: string;
  readonly service: Service;
  readonly reqId: string;
}

export interface Packages {
  readonly checkoutId: string;
  readonly customer: CustomerProfile;
  readonly connection: ConnectionInformation;
  readonly subscriptions: readonly Subscription[];
  readonly bouquets: readonly Bouquet[];
}

/** The catalogue before the first one in force. */
const NO_CATALOGUE: Catalogue = { revision: 0, bouquets: [] };

/**
 * The operation get-subscription-package. Writes nothing: the seal proves that a checkoutId is authentic.
 * @param lapsedDays days that an ended subscription stays listed.
 */
export async function listPackages(
  { store, clock, random }: Ports,
  caller: Caller,
  { cuid, service, reqId }: PackagesRequest,
  lapsedDays: number,
): Promise<Result<Packages>> {
  const key = { environment: caller.environment, cuid, service, reqId };
  const found = await store.findConnection(key);
  const open = openToSales(found?.profile, found?.connection);
  if (!open.ok) return open;
  const { customer, connection } = open.value;

  const secrets = await store.checkoutSecrets();
  const { zone, basePlans } = store.provider;
  const at = clock();
  const catalogue = (await store.currentCatalogue(caller.environment, at)) ?? NO_CATALOGUE;
  const now = zone.wallTime(at);
  const listedFrom = lapsedDays === 0 ? now : zone.wallTime(at - lapsedDays * DAY_MS);
  const issuedAt = caller.environment === "trial" ? at - (faultOf(key)?.issuedAgeMs ?? 0) : at;
  const quote = { revision: catalogue.revision, issuedAt, nonce: random(CHECKOUT_NONCE_BYTES) };
  return done({
    checkoutId: issueCheckout(sealingSecret(secrets, issuedAt), caller, key, quote),
    customer,
    connection: { service, reqId, status: wireStatus(connectionState(connection), now) },
    subscriptions: subscriptionsOf(connection).filter(({ end }) => end > listedFrom),
    bouquets: purchasableBouquets(catalogue, connection, now, basePlans),
  });
}
