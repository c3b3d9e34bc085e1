import type { Kysely } from "kysely";
import type { Catalogue } from "../domain/catalogue.ts";
import type { Environment } from "../domain/customer.ts";
import { toBouquet } from "./rows.ts";
import { verifyProvider } from "./settings.ts";
import type { ProviderSettings } from "./store.ts";
import type { Tables } from "./tables.ts";

/** The number of the newest revision, of an environment or of all; undefined before the first import. */
export async function currentRevision(db: Kysely<Tables>, environment?: Environment): Promise<number | undefined> {
  const query = db.selectFrom("catalogueRevision").select((eb) => eb.fn.max("revision").as("revision"));
  const narrowed = environment === undefined ? query : query.where("environment", "=", environment);
  return (await narrowed.executeTakeFirst())?.revision ?? undefined;
}

/**
 * A revision never changes, so whoever has read it may keep it.
 * @throws StoreUnavailable where this process would take a stored price for another.
 */
export async function readCatalogue(
  db: Kysely<Tables>,
  provider: ProviderSettings,
  revision: number,
): Promise<Catalogue | undefined> {
  await verifyProvider(db, provider);
  const query = db.selectFrom("bouquet").selectAll().where("revision", "=", revision).orderBy("position");
  const bouquets = (await query.execute()).map(toBouquet);
  return bouquets.length === 0 ? undefined : { revision, bouquets };
}
