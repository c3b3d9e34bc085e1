import { SERVICES, type Service } from "../../domain/bouquet.ts";
import type { BlockOutcome } from "../../domain/correction.ts";
import { type ConnectionKey, type CustomerProfile, ENVIRONMENTS, type Environment } from "../../domain/customer.ts";
import type { SingleCorrections } from "../../store/changes.ts";
import { type Actor, correctingOf, type Ports, type ReadingPorts } from "../ports.ts";

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

/** Why it is not clear which connection is meant: nothing is ever changed by a guess. */
export type ConnectionUnclear =
  | { readonly kind: "no_connection" }
  /** There are, or were, several such connections. */
  | { readonly kind: "several_connections"; readonly candidates: readonly ConnectionCandidate[] };

export type ConnectionAnswer = ({ readonly kind: "found" } & ConnectionCandidate) | ConnectionUnclear;

/** A connection's name may be the mobile number of many who do not have the connection. */
const MOST_HOLDERS = 1_000;

export async function findConnection({ store }: ReadingPorts, request: ConnectionRequest): Promise<ConnectionAnswer> {
  const candidates: ConnectionCandidate[] = [];
  for await (const connection of connectionsMeant({ store }, request)) {
    const found = await store.findConnection(connection);
    if (found?.connection !== undefined) candidates.push({ connection, customer: found.profile });
  }
  const [candidate, another] = candidates;
  if (candidate === undefined) return { kind: "no_connection" };
  return another === undefined ? { kind: "found", ...candidate } : { kind: "several_connections", candidates };
}

/**
 * All that may be meant: those of the customer who is named, or of everybody whom the connection's name fits. A connection
 * that is gone has no code any more: then its customer must be named. Whether there is such a connection was not asked.
 */
export async function* connectionsMeant(
  { store }: ReadingPorts,
  { service: asked, reqId, environment, cuid: named }: ConnectionRequest,
): AsyncGenerator<ConnectionKey> {
  const services = asked === undefined ? SERVICES : [asked];
  for (const each of environment === undefined ? ENVIRONMENTS : [environment]) {
    const cuids = named === undefined ? await store.search.findCuids(each, reqId, MOST_HOLDERS) : [named];
    for (const cuid of cuids) for (const service of services) yield { environment: each, cuid, service, reqId };
  }
}

/** Of every correction. */
export interface CorrectionRequest extends ConnectionRequest {
  readonly reason: string;
  /** Finds out what would be done, and does nothing. */
  readonly preview?: boolean | undefined;
}

export interface BlockRequest extends CorrectionRequest {
  readonly blocked: boolean;
}

export type BlockAnswer =
  /** `changed`: false where it was so already. */
  | ({ readonly kind: "done"; readonly changed: boolean } & ConnectionCandidate)
  | Extract<BlockOutcome, { kind: "blocked_by_records" }>
  | ConnectionUnclear;

/** Blocks a connection until staff unblock it, whatever imports say meanwhile; or unblocks it. */
export async function setBlocked(ports: Ports, actor: Actor, request: BlockRequest): Promise<BlockAnswer> {
  const answer = await findConnection(ports, request);
  if (answer.kind !== "found") return answer;
  const { connection, customer } = answer;
  const by = correctingOf(ports, actor, request.reason);
  const outcome = await correctionsFor(ports, request).setBlocked(connection, request.blocked, by);
  if (outcome.kind === "not_found") return { kind: "no_connection" };
  if (outcome.kind === "blocked_by_records") return outcome;
  return { kind: "done", changed: outcome.audited !== undefined, connection, customer };
}

/** What makes corrections, or tells what they would do. */
export function correctionsFor(
  { store: { corrections } }: ReadingPorts,
  { preview }: Pick<CorrectionRequest, "preview">,
): SingleCorrections {
  return preview === true ? corrections.preview : corrections;
}
