import { SERVICES, type Service } from "../domain/bouquet.ts";
import { type ConnectionKey, type CustomerProfile, ENVIRONMENTS, type Environment } from "../domain/customer.ts";
import type { Ports } from "./ports.ts";

export interface ConnectionRequest {
  readonly reqId: string;
  /** Undefined where any is meant. */
  readonly service: Service | undefined;
  /** Undefined where both are meant. */
  readonly environment: Environment | undefined;
  /** Undefined where whoever has the connection is meant. */
  readonly cuid: string | undefined;
}

export interface ConnectionCandidate {
  readonly connection: ConnectionKey;
  /** Undefined where nothing is left of the customer but ledgers. */
  readonly customer: CustomerProfile | undefined;
}

export type ConnectionAnswer =
  | ({ readonly kind: "found" } & ConnectionCandidate)
  | { readonly kind: "ambiguous"; readonly candidates: readonly ConnectionCandidate[] }
  | { readonly kind: "not_found" };

/** A connection's name may be the mobile number of many who do not have the connection. */
const MOST_HOLDERS = 1_000;

/** Whose connection is meant: nothing is ever changed by a guess. */
export async function findConnection(
  ports: Pick<Ports, "store">,
  request: ConnectionRequest,
): Promise<ConnectionAnswer> {
  const candidates: ConnectionCandidate[] = [];
  for await (const connection of connectionsMeant(ports, request)) {
    const found = await ports.store.findConnection(connection);
    if (found?.connection !== undefined) candidates.push({ connection, customer: found.profile });
  }
  const [candidate, another] = candidates;
  if (candidate === undefined) return { kind: "not_found" };
  return another === undefined ? { kind: "found", ...candidate } : { kind: "ambiguous", candidates };
}

/**
 * All that may be meant: those of the customer who is named, or of everybody whom the connection's name fits. A connection
 * that is gone has no code any more: then its customer must be named. Whether there is such a connection was not asked.
 */
export async function* connectionsMeant(
  { store }: Pick<Ports, "store">,
  { service: asked, reqId, environment, cuid: named }: ConnectionRequest,
): AsyncGenerator<ConnectionKey> {
  const services = asked === undefined ? SERVICES : [asked];
  for (const each of environment === undefined ? ENVIRONMENTS : [environment]) {
    const cuids = named === undefined ? await store.search.findCuids(each, reqId, MOST_HOLDERS) : [named];
    for (const cuid of cuids) for (const service of services) yield { environment: each, cuid, service, reqId };
  }
}
