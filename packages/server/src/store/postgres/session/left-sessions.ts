import type pg from "pg";
import { StoreUnavailable } from "../../errors.ts";
import type { Prepared } from "./session.ts";
import { isSilence } from "./trouble.ts";

/** Of a user who serves as another (ALTER ROLE ... SET role), only that they write is shown, and not what they wait for. */
const STILL_COMMITTING: Prepared = {
  name: "still_committing",
  text: `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[])
    AND (wait_event = 'SyncRep' OR state IS NULL AND backend_xid IS NOT NULL)`,
};

/** Further ones would hang as these do. */
const MOST = 2;

/**
 * Sessions that this process has left because PostgreSQL did not answer. One whose commit waits for a synchronous standby
 * stays with the server, whoever has left it, until the standby confirms: while that is away, each further batch would
 * take another connection from everybody, until there are none.
 */
export class LeftSessions {
  readonly #pids = new Set<number>();

  add(client: pg.ClientBase, error: unknown): void {
    // The driver's types do not show the number.
    const { processID } = client as unknown as { readonly processID: number | null };
    if (processID !== null && isSilence(error)) this.#pids.add(processID);
  }

  /** @throws StoreUnavailable where a commit would hang as well. */
  async verifyGone(
    ask: (statement: Prepared, values: readonly unknown[]) => Promise<{ pid: number }[]>,
  ): Promise<void> {
    if (this.#pids.size < MOST) return;
    const asked = [...this.#pids];
    const waiting = new Set((await ask(STILL_COMMITTING, [asked])).map(({ pid }) => pid));
    for (const pid of asked) if (!waiting.has(pid)) this.#pids.delete(pid);
    if (waiting.size >= MOST)
      throw new StoreUnavailable(
        "commits wait for a synchronous standby that does not confirm them (pg_stat_activity: SyncRep)",
      );
  }
}
