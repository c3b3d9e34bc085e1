import type { ProviderSettings } from "../../store.ts";
import type { Database } from "../database.ts";
import { verifyProviderSettings } from "../provider.ts";
import { AuditTable } from "./audit.ts";
import { CatalogueTables } from "./catalogues.ts";
import { CustomerTables } from "./customers.ts";
import { SubscriptionTables } from "./subscriptions.ts";
import { TopUpTables } from "./top-ups.ts";

/** The tables of which several parts of a store make use, on one connection to the database: its own, or its settling thread's. */
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
