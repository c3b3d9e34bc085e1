import type pg from "pg";
import { StoreRefused } from "../../errors.ts";
import { WAITS } from "./session.ts";
import { SHARED_BACKENDS } from "./trouble.ts";

/** Where a pooler is busy, two sessions may keep different backends by chance; seldom so often. */
const ROUNDS = 4;

/** Whether it has the backend that PostgreSQL itself announces to each client: a pooler makes up another number. */
export async function isDirect(client: pg.Client): Promise<boolean> {
  // The driver's types do not show it.
  const { processID } = client as unknown as { readonly processID: number | null };
  return (await backendOf(client)) === processID;
}

/**
 * What a session sets, prepares or locks is its backend's: with another one, a commit might not wait for the disk. It takes
 * two to see whether each has one of its own.
 * @throws StoreRefused where they share them.
 */
export async function verifyBackends(one: pg.Client, other: pg.Client): Promise<void> {
  const first = [await backendOf(one), await backendOf(other)];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const now = [await backendOf(one), await backendOf(other)];
    if (now[0] === now[1] || now.some((backend, each) => backend !== first[each]))
      throw new StoreRefused(SHARED_BACKENDS);
  }
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>({
    text: "SELECT pg_backend_pid() AS pid",
    // Still a part of connecting. The driver's types do not know it.
    ...({ query_timeout: WAITS.connecting } as object),
  });
  return rows[0]?.pid;
}
