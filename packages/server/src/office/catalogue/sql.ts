import { CATALOGUE_ACTIONS } from "../../domain/audit.ts";
import type { Bouquet } from "../../domain/bouquet.ts";
import type { Environment } from "../../domain/customer.ts";
import { portionsOf } from "../../domain/portions.ts";
import { Refused } from "../../domain/refused.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { bouquetRow } from "../../store/reference-cache.ts";
import type { Tables } from "../../store/tables.ts";

/** Rows in one statement, whose parameters are limited. */
const ROWS_OF_A_STATEMENT = 500;

/** Lists revisions, newest first, without those that only publish codes: the revision that is sold has the same time. */
export async function listRevisions(
  db: Db,
  environment: Environment,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
) {
  let query = db
    .selectFrom("catalogueRevision as each")
    .innerJoin("bouquet", "bouquet.revision", "each.revision")
    .select((eb) => ["each.revision", "each.createdAt", "each.inForceAt", eb.fn.countAll().as("bouquets")])
    .where("environment", "=", environment)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("catalogueRevision as next")
            .select("next.revision")
            .whereRef("next.environment", "=", "each.environment")
            .whereRef("next.createdAt", "=", "each.createdAt")
            .whereRef("next.revision", ">", "each.revision"),
        ),
      ),
    )
    .groupBy(["each.revision", "each.createdAt", "each.inForceAt"])
    .orderBy("each.revision", "desc")
    .limit(limit);
  if (before !== undefined) query = query.where("each.revision", "<", before);
  return (await query.execute()).map((row) => ({ ...row, bouquets: Number(row.bouquets) }));
}

/** Finds the audit entries of revisions, by their time: both are written in one transaction. */
export async function entriesOf(
  db: Db,
  environment: Environment,
  revisions: readonly { readonly createdAt: Instant }[],
): Promise<ReadonlyMap<Instant, { readonly author: string; readonly reason: string | null }>> {
  if (revisions.length === 0) return new Map();
  const times = revisions.map(({ createdAt }) => createdAt);
  const entries = await db
    .selectFrom("auditEntry")
    .select(["at", "author", "reason"])
    .where("action", "in", CATALOGUE_ACTIONS)
    .where("subject", "=", environment)
    .where("at", "in", times)
    // Only the last revision of one moment is listed: the last entry is its own.
    .orderBy("seq")
    .execute();
  return new Map(entries.map((entry) => [entry.at, entry]));
}

/** The last number in use, of both environments; 0 before the first. */
export async function lastRevision(db: Db): Promise<number> {
  const query = db.selectFrom("catalogueRevision").select((eb) => eb.fn.max("revision").as("revision"));
  return (await query.executeTakeFirst())?.revision ?? 0;
}

type Revision = Tables["catalogueRevision"];

/** Withdraws the revision that waits, and the one before it that publishes its retired codes. */
export async function withdrawRevision(
  tx: Db,
  { environment, inForceAt }: Pick<Revision, "environment" | "inForceAt">,
): Promise<void> {
  const ofChange = tx.updateTable("catalogueRevision").where("environment", "=", environment);
  await ofChange.where("inForceAt", "=", inForceAt).set({ inForceAt: null }).execute();
}

/** Finds a revision. @throws Refused if there is none. */
export async function findRevision(db: Db, revision: number): Promise<Revision> {
  const query = db.selectFrom("catalogueRevision").selectAll().where("revision", "=", revision);
  return (await query.executeTakeFirst()) ?? noRevision();
}

export function noRevision(): never {
  throw new Refused("not_found", "there is no such revision");
}

export async function insertRevision(tx: Db, revision: Revision, bouquets: readonly Bouquet[]): Promise<void> {
  await tx.insertInto("catalogueRevision").values(revision).execute();
  const rows = bouquets.map((bouquet, position) => ({ revision: revision.revision, position, ...bouquetRow(bouquet) }));
  for (const some of portionsOf(rows, ROWS_OF_A_STATEMENT)) await tx.insertInto("bouquet").values(some).execute();
}
