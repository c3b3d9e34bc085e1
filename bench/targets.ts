import { randomBytes } from "node:crypto";
import { openPostgresStore } from "../packages/server/src/store/postgres/open.ts";
import { openSqliteStore } from "../packages/server/src/store/sqlite/open.ts";
import type { Store } from "../packages/server/src/store/store.ts";
import type { Target } from "./bodies.ts";

const SETTINGS = { timeZone: undefined, currencyExponent: undefined, clock: Date.now, random: randomBytes };

/** What must be known of a filled file to make requests for it. */
export function readSqliteTarget(path: string, customers: number): Promise<Target> {
  return readTarget(openSqliteStore({ path, ...SETTINGS }), customers);
}

/** As {@link readSqliteTarget}, for a database of PostgreSQL. */
export async function readPostgresTarget(url: string, customers: number): Promise<Target> {
  return readTarget(await openPostgresStore({ url, connections: 1, ...SETTINGS }), customers);
}

/** The first partner and catalogue are the only ones. */
async function readTarget(store: Store, customers: number): Promise<Target> {
  try {
    const [secret] = await store.checkoutSecrets();
    if (secret === undefined) throw new Error("the database has no secret for checkouts");
    return { customers, partnerId: 1, revision: 1, secret };
  } finally {
    await store.close();
  }
}
