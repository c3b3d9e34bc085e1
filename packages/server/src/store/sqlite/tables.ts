import type { ProviderSettings } from "../store.ts";
import { AuditTable } from "./audit.ts";
import { CatalogueTables } from "./catalogues.ts";
import { CustomerTables } from "./customers.ts";
import type { Database } from "./database.ts";
import { verifyProviderSettings } from "./provider.ts";
import { SubscriptionTables } from "./subscriptions.ts";
import { TopUpTables } from "./top-ups.ts";

/** What a top-up reads and writes, on one connection to the database: a store's own, or that of its settling thread. */
export interface Tables {
  readonly audit: AuditTable;
  readonly catalogues: CatalogueTables;
  readonly customers: CustomerTables;
  readonly subscriptions: SubscriptionTables;
  readonly topUps: TopUpTables;
}

export function tablesOf(database: Database, provider: ProviderSettings): Tables {
  const audit = new AuditTable(database);
  const catalogues = new CatalogueTables(database, audit, () => verifyProviderSettings(database, provider));
  const customers = new CustomerTables(database);
  const subscriptions = new SubscriptionTables(database);
  const topUps = new TopUpTables(database, { catalogues, customers, subscriptions });
  return { audit, catalogues, customers, subscriptions, topUps };
}
