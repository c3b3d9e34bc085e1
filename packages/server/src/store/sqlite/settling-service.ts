import type { MessagePort } from "node:worker_threads";
import type { Instant } from "../../domain/calendar.ts";
import { toProviderSettings } from "../common/provider-settings.ts";
import { AuditTable } from "./audit.ts";
import { CatalogueTables } from "./catalogues.ts";
import { Checkpoints } from "./checkpoints.ts";
import { CustomerTables } from "./customers.ts";
import { Database } from "./database.ts";
import { verifyProviderSettings } from "./provider.ts";
import { type Settle, type SettlingItem, settleIn } from "./settling.ts";
import { type FromThread, packError, type SettlingThreadData, type ToThread } from "./settling-messages.ts";
import { SubscriptionTables } from "./subscriptions.ts";
import { TopUpTables } from "./top-ups.ts";

/** What a settling thread does; settling-thread.ts is its other end. The thread ends once it is told to close. */
export function serveSettling(port: MessagePort, data: SettlingThreadData, clock: () => Instant): void {
  let connection: SettlingConnection | undefined;
  const connect = () => {
    connection ??= openConnection(data, clock);
    return connection;
  };
  const answer = (said: FromThread) => port.postMessage(said);
  const settle = async (batch: readonly SettlingItem[]): Promise<void> => {
    try {
      answer({ settled: await connect().settle(batch) });
    } catch (error) {
      answer({ failed: packError(error) });
    }
  };
  port.on("message", (message: ToThread) => {
    if (message === "rest") {
      connection?.checkpoints.makeWhereDue();
    } else if (message === "close") {
      connection?.database.close();
      port.close();
    } else {
      void settle(message.settle);
    }
  });
  try {
    connect();
  } catch {
    // Whoever asks for the first batch tries again, and is told.
  }
}

interface SettlingConnection {
  readonly database: Database;
  readonly settle: Settle;
  readonly checkpoints: Checkpoints;
}

function openConnection({ path, files, provider: row }: SettlingThreadData, clock: () => Instant): SettlingConnection {
  const database = new Database(path, { mustExist: true, files });
  try {
    database.verifyDurability();
    database.opened();
    database.sharesCache();
    const provider = toProviderSettings(row);
    const verifyPrices = () => verifyProviderSettings(database, provider);
    const tables = {
      catalogues: new CatalogueTables(database, new AuditTable(database), verifyPrices),
      customers: new CustomerTables(database),
      subscriptions: new SubscriptionTables(database),
    };
    const { calendar } = provider;
    const settle = settleIn(database, new TopUpTables(database, tables), { clock, calendar });
    return { database, settle, checkpoints: new Checkpoints(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}
