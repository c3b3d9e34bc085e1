import type { Instant } from "../domain/calendar.ts";
import { RECORDING_DEADLINE_MS } from "../domain/top-up.ts";
import type { Store } from "../store/store.ts";
import type { Runtime } from "./runtime.ts";

/**
 * Looks whether a day may still grow: what was decided in its last moment may take so long to be on record, and longer
 * where a commit waits. To be called before its numbers are read, and what it gives once they are printed.
 */
export async function unfinishedAt(runtime: Runtime, store: Store, day: string, until: Instant): Promise<() => void> {
  const finalAt = until + RECORDING_DEADLINE_MS;
  const now = runtime.clock();
  const isOver = now >= finalAt;
  const isWaitedFor = isOver && (await store.search.isBeingWritten(finalAt, now));
  return () => {
    if (!isOver) runtime.stderr(`${day} is not over yet: these numbers may still grow\n`);
    if (isWaitedFor)
      runtime.stderr(
        `${day} may still grow: PostgreSQL has not finished what was begun before its end; it may wait for a synchronous standby (pg_stat_activity: backend_xid, wait_event). Ask again once it has.\n`,
      );
  };
}
