import type { MessagePort } from "node:worker_threads";
import type { Instant } from "../../../domain/calendar.ts";
import { toProviderSettings } from "../../common/provider-settings.ts";
import { StoreUnavailable } from "../../errors.ts";
import type { ObserveCheckpoints } from "../../store.ts";
import { Database } from "../database.ts";
import { tablesOf } from "../tables/all-tables.ts";
import { Checkpoints } from "./checkpoints.ts";
import { type Settle, settleIn } from "./settling.ts";
import {
  type BatchMessage,
  type FromThread,
  packError,
  packOutcome,
  type SettlingThreadData,
  type ToThread,
  unpackItem,
} from "./settling-messages.ts";

/** What a settling thread does; settling-thread.ts is its other end. The thread ends once it is told to close. */
export function serveSettling(port: MessagePort, data: SettlingThreadData, clock: () => Instant): void {
  let connection: SettlingConnection | undefined;
  const observe = (trouble: string | undefined) => port.postMessage({ trouble } satisfies FromThread);
  const connect = () => {
    connection ??= openConnection(data, clock, observe);
    return connection;
  };
  const settle = async ({ id, batch }: BatchMessage): Promise<FromThread> => {
    try {
      const { database, settle } = connect();
      if (batch.length > 0) return { id, settled: (await settle(batch.map(unpackItem))).map(packOutcome) };
      database.ping();
      return { id, settled: [] };
    } catch (error) {
      return { id, failed: packError(error) };
    }
  };
  port.on("message", (message: ToThread) => {
    if (message === "rest") {
      connection?.checkpoints.makeWhereDue();
    } else if (message === "close") {
      connection?.database.close();
      port.close();
    } else {
      void settle(message).then((answer) => {
        port.postMessage(answer);
        // What the store settles by itself, and asks nobody to rest after, makes the log longer too.
        if (message.batch.length === 0) connection?.checkpoints.makeWhereDueOrFailed();
      });
    }
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
  observe: ObserveCheckpoints,
): SettlingConnection {
  try {
    return tryToOpen(data, clock, observe);
  } catch (cause) {
    if (cause instanceof StoreUnavailable) throw cause;
    throw new StoreUnavailable("the thread that settles top-ups cannot open the database", { cause });
  }
}

function tryToOpen(
  { path, files, provider: row, rules }: SettlingThreadData,
  clock: () => Instant,
  observe: ObserveCheckpoints,
): SettlingConnection {
  const database = new Database(path, { mustExist: true, files });
  try {
    database.opened();
    database.sharesCache();
    const provider = toProviderSettings(row, rules);
    const { calendar } = provider;
    const settle = settleIn(database, tablesOf(database, provider).topUps, { clock, calendar });
    return { database, settle, checkpoints: new Checkpoints(database, observe) };
  } catch (error) {
    database.close();
    throw error;
  }
}
