import type { Ports } from "../../store/ports.ts";
import { readHorizon } from "../../store/settings.ts";

/** The day before which history was deleted; null if a list from `from` is complete. */
export async function prunedBefore({ store }: Pick<Ports, "store">, from: number | undefined): Promise<string | null> {
  const horizon = await readHorizon(store.engine.db);
  if (horizon === undefined || (from !== undefined && from >= horizon)) return null;
  return store.provider.zone.wallTime(horizon).slice(0, 10);
}
