import type { Kysely } from "kysely";
import type { Instant } from "../../domain/wall-time.ts";
import type { Engine } from "../engine.ts";
import type { Retention } from "../retention.ts";
import type { Tables } from "../tables.ts";

export function retentionOf({ db }: Engine): Retention {
  return { prunedBefore: () => readHorizon(db) };
}

/** The time from which history is whole; undefined if none was ever deleted. */
export async function readHorizon(db: Kysely<Tables>): Promise<Instant | undefined> {
  return (await db.selectFrom("retention").select("pruned_before").executeTakeFirst())?.pruned_before;
}
