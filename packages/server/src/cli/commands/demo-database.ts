import { type Config, SETTINGS } from "../../config.ts";
import { showDatabaseAddress } from "../../database-address.ts";
import { type Runtime, WrongUsage } from "../runtime.ts";
import { withStoreOf } from "../settings.ts";

/**
 * The demo puts trial customers back and adds a partner: not into the database that a shell was set up for, where others
 * are served from it. Nothing is migrated to find that out.
 * @throws WrongUsage where the database is not the demo's own.
 */
export async function refuseOthersDatabase(runtime: Runtime, config: Config, ownPartner: string): Promise<void> {
  if (runtime.env[SETTINGS.database.env] === undefined) return;
  const migrations = await runtime.readMigrations(config);
  // Made only by the demo.
  if (!migrations.some(({ state }) => state === "applied")) return;
  await withStoreOf(config, runtime, { mustExist: true }, async (store) => {
    const partners = await store.listPartners();
    const customers = await store.search.listCustomers("production", { after: undefined, limit: 1 });
    if (partners.every(({ name }) => name === ownPartner) && customers.length === 0) return;
    throw new WrongUsage(
      `${SETTINGS.database.env} names ${showDatabaseAddress(config.database)}, which is not the demo's own: it has other partners, or production customers. Leave the variable out, or name a database for the demo by --database`,
    );
  });
}
