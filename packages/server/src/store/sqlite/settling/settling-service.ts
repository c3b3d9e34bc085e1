import type { MessagePort } from "node:worker_threads";
import type { Instant } from "../../../domain/wall-time.ts";
import { StoreUnavailable } from "../../errors.ts";
import { CustomerTables } from "../customers.ts";
import { Database } from "../database.ts";
import { ReferenceTables } from "../reference.ts";
import { TopUpTables } from "../top-ups.ts";
import { Checkpoints } from "./checkpoints.ts";
import { type Settle, settleIn } from "./settling.ts";
import {
  type BatchMessage,
  type FromThread,
  packOutcome,
  providerOf,
  type SettlingThreadData,
  type ToThread,
  unpackItem,
} from "./settling-messages.ts";

/** What a settling thread does; settling-thread.ts is its other end. The thread ends once it is told to close. */
export function serveSettling(port: MessagePort, data: SettlingThreadData, clock: () => Instant): void {
  const answer = (message: FromThread) => port.postMessage(message);
  let connection: SettlingConnection | undefined;
  const connect = () => {
    connection ??= openConnection(data, clock, (trouble) => answer({ trouble }));
    return connection;
  };
  const settle = async ({ id, batch }: BatchMessage): Promise<void> => {
    const isPing = batch.length === 0;
    try {
      const { database, settle } = connect();
      if (isPing) database.ping();
      answer({ id, settled: isPing ? [] : (await settle(batch.map(unpackItem))).map(packOutcome) });
    } catch (error) {
      answer({ id, failed: error, isUnavailable: error instanceof StoreUnavailable });
    }
    connection?.checkpoints.makeWhereDue(isPing);
  };
  port.on("message", (message: ToThread) => {
    if (message === "close") {
      connection?.database.close();
      port.close();
    } else void settle(message);
  });
  try {
    connect();
  } catch {
    // Whoever asks first tries again, and is told.
  }
}

interface SettlingConnection {
  readonly database: Database;
  readonly settle: Settle;
  readonly checkpoints: Checkpoints;
}

/** @throws StoreUnavailable where it cannot be opened: that it was all right is why there is a thread. */
function openConnection(
  data: SettlingThreadData,
  clock: () => Instant,
  observe: ConstructorParameters<typeof Checkpoints>[1],
): SettlingConnection {
  let database: Database | undefined;
  try {
    database = new Database(data.path, { mustExist: true });
    const provider = providerOf(data);
    const customers = new CustomerTables(database, provider);
    const reference = new ReferenceTables(database, provider);
    const topUps = new TopUpTables(database, { customers, reference, provider });
    const checkpoints = new Checkpoints(database, observe);
    return { database, settle: settleIn(database, topUps, provider, clock), checkpoints };
  } catch (cause) {
    database?.close();
    if (cause instanceof StoreUnavailable) throw cause;
    throw new StoreUnavailable("the thread that settles top-ups cannot open the database", { cause });
  }
}
