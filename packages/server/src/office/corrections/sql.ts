import { SERVICES, type Service } from "../../domain/bouquet.ts";
import type { Correcting } from "../../domain/correction.ts";
import {
  type Connection,
  type ConnectionKey,
  type CustomerProfile,
  ENVIRONMENTS,
  type Environment,
  isBlocked,
} from "../../domain/customer.ts";
import { eventOf, type NewEvent } from "../../domain/event.ts";
import { Refused } from "../../domain/refused.ts";
import type { Transaction } from "../../domain/transaction.ts";
import { CONNECTION_KEY } from "../../store/customers.ts";
import type { Db } from "../../store/engine.ts";
import type { ReadingPorts } from "../../store/ports.ts";
import { flag } from "../../store/rows.ts";
import { endRequest } from "../approvals/sql.ts";
import { findCuids } from "../customers/sql.ts";

/** Names a connection. An undefined field may have any value. */
export interface ConnectionInput {
  readonly reqId: string;
  readonly service?: Service | undefined;
  readonly environment?: Environment | undefined;
  readonly cuid?: string | undefined;
}

export interface Candidate {
  readonly key: ConnectionKey;
  /** Undefined if only ledgers are left of the customer. */
  readonly customer: CustomerProfile | undefined;
}

/** Most customers read for a name: it can be the mobile number of many customers who do not have the connection. */
const MOST_HOLDERS = 1_000;

/**
 * Finds all connections that the reference fits, of one customer or of all. A connection that is gone is found only by its
 * customer.
 */
export async function* connectionsMeant(
  { store }: ReadingPorts,
  input: ConnectionInput,
): AsyncGenerator<ConnectionKey> {
  const { service, reqId, environment: asked, cuid: named } = input;
  for (const environment of asked === undefined ? ENVIRONMENTS : [asked]) {
    const cuids = named === undefined ? await findCuids(store, environment, reqId, MOST_HOLDERS) : [named];
    for (const cuid of cuids)
      for (const each of service === undefined ? SERVICES : [service])
        yield { environment, cuid, service: each, reqId };
  }
}

/** Finds the only connection that the reference fits. @throws Refused if there is none, or several. */
export async function connectionMeant(ports: ReadingPorts, input: ConnectionInput): Promise<ConnectionKey> {
  const found: Candidate[] = [];
  for await (const key of connectionsMeant(ports, input)) {
    const { profile, connection } = (await ports.store.findConnection(key)) ?? {};
    if (connection !== undefined) found.push({ key, customer: profile });
  }
  return theOnly(found, input).key;
}

/** Picks the only connection. @throws Refused if there is none, or several. */
export function theOnly<Of extends Candidate>(found: readonly Of[], input: ConnectionInput): Of {
  const [one, another] = found;
  if (one === undefined) throw noConnection(input);
  if (another === undefined) return one;
  const { service, reqId } = input;
  throw new Refused("conflict", (naming) => {
    const lines = found.map(({ key, customer }) => {
      const name = customer === undefined ? "" : `, ${customer.firstName} ${customer.lastName}`;
      return `  ${key.service} ${reqId} ${naming("environment", key.environment)} ${naming("cuid", key.cuid)}${name}`;
    });
    return `there are several connections ${service === undefined ? "" : `${service} `}${reqId}: say which\n${lines.join("\n")}`;
  });
}

export function noConnection({ service, reqId, cuid }: ConnectionInput): Refused {
  const whose = cuid === undefined ? "" : ` of customer ${cuid}`;
  return new Refused(
    "not_found",
    `there is no ${service === undefined ? "" : `${service} `}connection ${reqId}${whose}`,
  );
}

export async function writeBlock(
  tx: Db,
  { cuid, environment, service, reqId }: ConnectionKey,
  blocked: boolean,
  { at, author, reason }: Correcting,
): Promise<void> {
  const key = { cuid, environment, service, reqId };
  await tx
    .updateTable("connection")
    .set({ blocked: flag(blocked) })
    .where((eb) => eb.and(key))
    .execute();
  if (!blocked) return;
  const block = { at: at.instant, wall: at.wall, author, reason };
  await tx
    .insertInto("connectionBlock")
    .values({ ...key, ...block })
    .onConflict((conflict) => conflict.columns(CONNECTION_KEY).doUpdateSet(block))
    .execute();
}

/** Events of a block; none if the provider's records block the connection too. @param connection before the block. */
export function blockEvents(
  key: ConnectionKey,
  connection: Connection,
  blocked: boolean,
  { at }: Correcting,
): NewEvent[] {
  const after = { ...connection, blocked };
  if (isBlocked(connection) === isBlocked(after)) return [];
  return [eventOf(blocked ? "connection.blocked" : "connection.unblocked", at.instant, key, after)];
}

export async function markReversed(
  tx: Db,
  { checkoutId, txnId }: Transaction,
  { author, reason, at }: Correcting,
): Promise<void> {
  await tx.updateTable("topUp").set({ status: "reversed" }).where("checkoutId", "=", checkoutId).execute();
  const reversal = { txnId, at: at.instant, wall: at.wall, author, reason };
  await tx.insertInto("reversal").values(reversal).execute();
  const by = { state: "confirmed", decidedBy: author, decidedAt: at.instant } as const;
  await endRequest(tx, { kind: "reversal", subject: txnId }, by);
}
