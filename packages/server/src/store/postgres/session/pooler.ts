import type pg from "pg";
import { StoreRefused } from "../../errors.ts";
import { endClient, openClient } from "./database.ts";
import { SHARED_BACKENDS } from "./trouble.ts";

/** Where a pooler is busy, two sessions may keep different backends by chance; seldom so often. */
const ROUNDS = 4;

/**
 * What a session sets, prepares or locks is its backend's: with another one, a commit might not wait for the disk. It takes
 * two sessions to see whether each has one of its own.
 * @throws StoreRefused where they share them.
 */
export async function refuseSharedBackends(one: pg.Client, url: string): Promise<void> {
  // A pooler makes up another number than that of the backend, which PostgreSQL itself announces to each client.
  const { processID } = one as unknown as { readonly processID: number | null };
  if ((await backendOf(one)) === processID) return;
  // One that has no room for a second session cannot be judged, and is of little use anyway.
  const other = await openClient(url, "working").catch(() => undefined);
  if (other === undefined) return;
  try {
    const first = [await backendOf(one), await backendOf(other)];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const now = [await backendOf(one), await backendOf(other)];
      if (now[0] === now[1] || now.some((backend, each) => backend !== first[each]))
        throw new StoreRefused(SHARED_BACKENDS);
    }
  } finally {
    await endClient(other);
  }
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid;
}
