import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { Instant } from "../../../domain/wall-time.ts";
import { createZone } from "../../../domain/zone.ts";
import { Batcher } from "../../batcher.ts";
import type { Settled, SettlingItem } from "../../settling.ts";
import type { ObserveBatch, ObserveCheckpoints, ProviderSettings } from "../../store.ts";
import { customerTables } from "../customers.ts";
import { Database } from "../database.ts";
import { SqliteReferenceCache } from "../reference-cache.ts";
import { topUpTables } from "../top-ups.ts";
import { Checkpoints } from "./checkpoints.ts";
import { type Answered, type Asked, failureOf, Messages, packOutcome, unpackItem } from "./settler-protocol.ts";

/** What the settler is begun with: data alone. */
export interface SettlerData extends Omit<ProviderSettings, "zone" | "normaliseMobile"> {
  /** Of the database. */
  readonly path: string;
  readonly timeZone: string;
  /** Where its socket is to be. */
  readonly socketPath: string;
}

export interface SettlerOptions {
  readonly data: SettlerData;
  readonly clock: () => Instant;
  readonly observeBatch: ObserveBatch;
  readonly observeCheckpoints: ObserveCheckpoints;
}

export interface SettlerServer {
  /** To be called now and then: retries a checkpoint that has failed, also if nothing is settled. */
  readonly ping: () => void;
  /** Settles the rest and closes the database. */
  readonly close: () => Promise<void>;
}

/**
 * Settles what workers ask for, on the only connection that records top-ups: those of all of them share batches.
 * @throws StoreUnavailable where the database cannot be opened.
 */
export async function serveSettling(options: SettlerOptions): Promise<SettlerServer> {
  const { data, clock, observeBatch, observeCheckpoints } = options;
  const { timeZone, currencyExponent, defaultCountry, basePlans } = data;
  const provider = { zone: createZone(timeZone), currencyExponent, defaultCountry, basePlans };
  const database = new Database(data.path, { mustExist: true });
  const customers = customerTables(database, provider);
  const reference = new SqliteReferenceCache(database, provider);
  const checkpoints = new Checkpoints(database, observeCheckpoints);
  const topUps = topUpTables({ database, provider, clock, customers, reference });
  const batcher = new Batcher<SettlingItem, Settled>({
    // Two turns later: the next one sends the answers, which must not wait for a checkpoint.
    settle: (batch) =>
      topUps.settle(batch).finally(() => setImmediate(() => setImmediate(() => checkpoints.makeWhereDue()))),
    observe: observeBatch,
  });
  const workers = new Set<Messages<Answered, Asked>>();
  const server = createServer((socket) => {
    const worker = serveWorker(socket, (item) => batcher.add(item));
    workers.add(worker);
    socket.on("close", () => workers.delete(worker));
    // A worker that ends is not told; what it asked for is settled all the same.
    socket.on("error", () => {});
  });
  server.listen(data.socketPath);
  await once(server, "listening");
  return {
    ping: () => checkpoints.makeWhereDue(true),
    async close() {
      server.close();
      await batcher.drained();
      for (const worker of workers) worker.end();
      database.close();
    },
  };
}

function serveWorker(socket: Socket, settle: (item: SettlingItem) => Promise<Settled>): Messages<Answered, Asked> {
  const messages = new Messages<Answered, Asked>(socket, (asked) => {
    for (const [id, item] of asked) {
      settle(unpackItem(item)).then(
        (settled) => messages.send([id, packOutcome(settled)]),
        (error: unknown) => messages.send([id, undefined, failureOf(error)]),
      );
    }
  });
  return messages;
}
