import { LOOK_UP_WINDOW_MS, type LookUpCount } from "../domain/partner-limits.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { Engine } from "./engine.ts";

/**
 * Writes counts of this service, deletes old ones, and reads those of all services.
 * @param since counts written up to this time were read before.
 * @returns oldest first.
 */
export async function shareLookUps(
  engine: Engine,
  counts: readonly LookUpCount[],
  now: Instant,
  since: Instant,
): Promise<LookUpCount[]> {
  const [first, last] = [now - LOOK_UP_WINDOW_MS, now + LOOK_UP_WINDOW_MS];
  if (counts.length > 0)
    await engine.transact(async (tx) => {
      await engine.lockCalls(tx);
      await tx
        .deleteFrom("lookUp")
        .where((eb) => eb.or([eb("at", "<=", first), eb("at", ">=", last)]))
        .execute();
      // The time of writing, so that counts that waited for the store are read by the other services.
      const rows = counts.map(({ partnerId, environment, hash }) => ({
        partner_id: partnerId,
        environment,
        hash,
        at: now,
      }));
      await engine.rows.put(tx, "look_up", rows);
    });
  const read = engine.db.selectFrom("lookUp").selectAll().orderBy("at");
  return read.where("at", ">", Math.max(first, since)).where("at", "<", last).execute();
}
