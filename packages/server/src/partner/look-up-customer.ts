import type { Service } from "../domain/bouquet.ts";
import { type CustomerProfile, type WireStatus, wireStatus } from "../domain/customer.ts";
import { done, type Result, refused } from "../domain/failure.ts";
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

/** get-customer-information (interface, section 4.1). */
export async function lookUpCustomer(
  { store, clock }: Ports,
  { environment }: Caller,
  { code }: LookUpRequest,
): Promise<Result<CustomerInformation>> {
  const [customer, another] = await store.lookUpCustomers(environment, code);
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
