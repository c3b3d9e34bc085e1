import { randomBytes } from "node:crypto";
import { DEFAULT_BASE_PLANS } from "../packages/server/src/domain/catalogue.ts";
import { openPostgresStore } from "../packages/server/src/store/postgres/open.ts";
import { openSqliteStore } from "../packages/server/src/store/sqlite/open.ts";
import type { Target } from "./bodies.ts";

const SETTINGS = {
  ...{ timeZone: undefined, currencyExponent: undefined, basePlans: DEFAULT_BASE_PLANS },
  ...{ clock: Date.now, random: randomBytes },
};

/**
 * What must be known of a filled database to make requests for it. The first partner and catalogue are the only ones.
 * @param place a file of SQLite, or the URL of a database of PostgreSQL.
 */
export async function readTarget(place: string, customers: number): Promise<Target> {
  const store = place.startsWith("postgres://")
    ? await openPostgresStore({ url: place, connections: 1, ...SETTINGS })
    : await openSqliteStore({ path: place, ...SETTINGS });
  try {
    const [secret] = await store.checkoutSecrets();
    if (secret === undefined) throw new Error("the database has no secret for checkouts");
    return { customers, partnerId: 1, revision: 1, secret };
  } finally {
    await store.close();
  }
}
