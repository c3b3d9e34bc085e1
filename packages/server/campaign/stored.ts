import { randomBytes } from "node:crypto";
import { readDatabaseAddress } from "../src/database-address.ts";
import { openPostgresStore } from "../src/store/postgres/open.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import type { Store } from "../src/store/store.ts";

/** Reads what a database holds, past the service. @returns each top-up's txnId by its checkoutId. */
export async function readTopUps(database: string): Promise<ReadonlyMap<string, string>> {
  const store = await open(database);
  const found = new Map<string, string>();
  try {
    await store.exportArchive("go_on", async (chunks) => {
      for await (const chunk of chunks) {
        if (chunk.kind !== "rows" || chunk.table !== "top_up") continue;
        for (const [checkoutId, txnId] of chunk.rows) found.set(String(checkoutId), String(txnId));
      }
    });
  } finally {
    await store.close();
  }
  return found;
}

async function open(database: string): Promise<Store> {
  const address = readDatabaseAddress(database);
  const world = { clock: Date.now, random: randomBytes, timeZone: undefined, currencyExponent: undefined };
  return address.store === "sqlite"
    ? openSqliteStore({ ...world, path: address.path, mustExist: true })
    : openPostgresStore({ ...world, url: address.url, connections: 2, mustExist: true });
}
