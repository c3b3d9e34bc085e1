import { type Config, SETTINGS } from "../../config.ts";
import { showDatabaseAddress } from "../../database-address.ts";
import { TRIAL_CUIDS } from "../../operations/trial.ts";
import type { Store } from "../../store/store.ts";
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
    const isOwnPartner = partners.every(({ name }) => name === ownPartner);
    if (isOwnPartner && !(await hasProduction(store)) && !(await hasOtherTrialCustomers(store))) return;
    throw new WrongUsage(
      `${SETTINGS.database.env} names ${showDatabaseAddress(config.database)}, which is not the demo's own: it has other partners, customers or a catalogue. Leave the variable out, or name a database for the demo by --database`,
    );
  });
}

async function hasProduction(store: Store): Promise<boolean> {
  const [customer] = await store.search.listCustomers("production", { after: undefined, limit: 1 });
  return customer !== undefined || (await store.currentCatalogue("production")) !== undefined;
}

async function hasOtherTrialCustomers(store: Store): Promise<boolean> {
  const own = new Set<string>(TRIAL_CUIDS);
  const customers = await store.search.listCustomers("trial", { after: undefined, limit: own.size + 1 });
  return customers.some(({ cuid }) => !own.has(cuid));
}
