import { setTimeout } from "node:timers/promises";
import type { Instant } from "../../domain/wall-time.ts";
import type { Engine } from "../engine.ts";
import { StoreUnavailable } from "../errors.ts";
import { Database } from "./database.ts";
import { createPostgresEngine } from "./engine.ts";
import type { Prepared } from "./session.ts";

/* Lists and reports on a standby. A figure that must be complete first waits until the standby has all that is decided. */

const CONNECTIONS = 2;
const PATIENCE_MS = 10_000;
const PAUSE_MS = 50;
const BEHIND = "the reports database is more than 10 seconds behind: see Health, and ask again";

const WRITTEN: Prepared = { name: "written", text: "SELECT pg_current_wal_lsn()::text AS place" };
const REPLAYED: Prepared = {
  name: "replayed",
  text: `SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS "hasAll",
    (extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000)::float8 AS at`,
};
interface Replayed {
  readonly hasAll: boolean | null;
  /** Time of the last transaction; null if it has replayed none. */
  readonly at: Instant | null;
}

export interface Standby {
  readonly engine: Engine;
  /** How long ago the standby was equal to the primary, in ms; Infinity if it has replayed nothing yet. */
  behindMs(): Promise<number>;
  close(): Promise<void>;
}

interface Primary {
  readonly database: Database;
  readonly engine: Engine;
  readonly clock: () => Instant;
}

/** @param url of the standby. */
export function standbyOf(url: string, primary: Primary): Standby {
  const database = new Database({ url, connections: CONNECTIONS, purpose: "reports" });
  const written = async () => (await primary.database.ask<{ readonly place: string }>(WRITTEN))[0]?.place ?? "";
  const replayed = async (place: string) => {
    const [row] = await database.ask<Replayed>({ ...REPLAYED, values: [place] });
    return { hasAll: row?.hasAll === true, at: row?.at ?? Number.NEGATIVE_INFINITY };
  };
  const awaitCommits = async () => {
    await primary.engine.awaitCommits();
    const place = await written();
    for (let waited = 0; !(await replayed(place)).hasAll; waited += PAUSE_MS) {
      if (waited >= PATIENCE_MS) throw new StoreUnavailable(BEHIND);
      await setTimeout(PAUSE_MS);
    }
  };
  return {
    engine: { ...createPostgresEngine({ url, database, changed: () => {} }), awaitCommits },
    async behindMs() {
      const { hasAll, at } = await replayed(await written());
      return hasAll ? 0 : primary.clock() - at;
    },
    close: () => database.close(),
  };
}
