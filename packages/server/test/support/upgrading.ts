import { randomBytes } from "node:crypto";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";

/* A program that opens a database with other migrations, for tests that kill it. */

const [address = "", migrations = ""] = process.argv.slice(2);
const options = {
  ...{ timeZone: undefined, currencyExponent: undefined, basePlans: DEFAULT_BASE_PLANS },
  ...{ clock: Date.now, random: (bytes: number) => randomBytes(bytes), migrations: new URL(migrations) },
};
process.stdout.write("opening\n");
const store = await (address.startsWith("postgres:")
  ? openPostgresStore({ ...options, url: address, connections: 4 })
  : openSqliteStore({ ...options, path: address }));
process.stdout.write("open\n");
await store.close();
