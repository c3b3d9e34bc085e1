import { SERVICES, type Service } from "../../domain/bouquet.ts";
import {
  type Connection,
  type ConnectionKey,
  type CustomerProfile,
  ENVIRONMENTS,
  type Environment,
  findConnection as findByName,
} from "../../domain/customer.ts";
import { Refused } from "../../domain/refused.ts";
import { findCustomer, ledgersOfConnection } from "../../store/customers.ts";
import type { ReadingPorts } from "../../store/ports.ts";
import type { Store } from "../../store/store.ts";
import { findCuids, findCuidsByName, MOST_CANDIDATES } from "../customer-search.ts";
import { findBlocks, type StaffBlock } from "./sql.ts";

/** Whether a text may be a name. Numbers are not: a wrong mobile number must not cause a read of all names. */
function mayBeName(text: string): boolean {
  return /\p{L}/u.test(text);
}

/** Finds the customer id of a code, or else of a name. @throws Refused if no customer or several have it. */
export async function cuidMeant(store: Store, environment: Environment, code: string): Promise<string> {
  const [cuid, ...others] = await candidates(store, environment, code);
  if (others.length > 0) throw await severalFit(store, environment, code, [cuid ?? "", ...others]);
  if (cuid !== undefined) return cuid;
  const nobody = `no ${environment} customer has the ${mayBeName(code) ? "code or name" : "code"} ${code}`;
  const other = environment === "trial" ? "production" : "trial";
  const isElsewhere = (await candidates(store, other, code)).length > 0;
  throw new Refused("not_found", (name) => {
    return isElsewhere ? `${nobody}, but a ${other} one has: add ${name("environment", other)}` : nobody;
  });
}

async function candidates(store: Store, environment: Environment, code: string): Promise<string[]> {
  const cuids = await findCuids(store, environment, code, MOST_CANDIDATES);
  if (cuids.length > 0 || !mayBeName(code)) return cuids;
  return findCuidsByName(store.engine.db, environment, code, MOST_CANDIDATES);
}

async function severalFit(store: Store, environment: Environment, code: string, cuids: readonly string[]) {
  const lines: string[] = [];
  for (const cuid of cuids) {
    const { firstName, lastName } = (await findCustomer(store.engine.db, environment, cuid)) ?? {};
    lines.push(`  ${cuid}  ${firstName} ${lastName}`);
  }
  const more = cuids.length < MOST_CANDIDATES ? "" : ` (the first ${MOST_CANDIDATES})`;
  const several = `${code} fits several customers${more}: give the customer id of one with`;
  return new Refused("conflict", (name) => `${several} ${name("byCuid")}\n${lines.join("\n")}`);
}

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

export interface FoundConnection extends Candidate {
  /** Undefined if the connection is gone. */
  readonly connection: Connection | undefined;
  /** Undefined if staff have not blocked the connection. */
  readonly block: StaffBlock | undefined;
}

/** Finds a connection, or its ledgers if it is gone. @throws Refused if there is none, or several. */
export async function connectionOrGone(ports: ReadingPorts, input: ConnectionInput): Promise<FoundConnection> {
  const { engine } = ports.store;
  const found: FoundConnection[] = [];
  for await (const key of connectionsMeant(ports, input)) {
    const { environment, cuid } = key;
    const { profile: customer, connection } = (await ports.store.findConnection(key)) ?? {};
    const ledgers = ledgersOfConnection(await engine.readLedgers(engine.db, environment, [cuid]), key);
    if (connection === undefined && ledgers.length === 0) continue;
    const block = findByName(await findBlocks(engine.db, environment, cuid), key);
    found.push({ key, customer, connection, block });
  }
  if (found.length > 0 || input.cuid !== undefined) return theOnly(found, input);
  const { words } = noConnection(input);
  throw new Refused("not_found", (name) => `${words(name)}: if it is gone, name its customer with ${name("cuid")}`);
}
