import { type Connection, findConnection as findByName } from "../../domain/customer.ts";
import { ledgersOfConnection } from "../../store/customers.ts";
import type { ReadingPorts } from "../../store/ports.ts";
import {
  type Candidate,
  type ConnectionInput,
  connectionsMeant,
  noConnection,
  theOnly,
} from "../corrections/connection.ts";
import { Refused } from "../refused.ts";
import { findBlocks, type StaffBlock } from "./sql.ts";

export interface FoundConnection extends Candidate {
  /** Undefined if the connection is gone. */
  readonly connection: Connection | undefined;
  /** Undefined if staff have not blocked the connection. */
  readonly block: StaffBlock | undefined;
}

/** The connection that is meant, also one of which only ledgers are left. @throws Refused if there is none, or several. */
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
