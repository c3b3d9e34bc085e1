import type { Static } from "typebox";
import type { Service } from "../../domain/bouquet.ts";
import type { JsonObject } from "../../domain/json.ts";
import {
  DEFAULT_RADIUS_SERVICE,
  isSameDatabase,
  type RadiusDifference,
  readRadiusConfig,
} from "../../domain/radius.ts";
import { Refused } from "../../domain/refused.ts";
import { DeliveryFailed, type RadiusConfig, type Target, type TargetConfig } from "../../domain/target.ts";
import { targetHandled } from "../../domain/target-audit.ts";
import type { Db } from "../../store/engine.ts";
import { listTargets } from "../../store/events.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { type Decider, decide } from "../decide.ts";
import type { RadiusCounts, TargetTools } from "../office.ts";
import type { AddTargetSchema } from "./schemas.ts";
import { targetNamed } from "./sql.ts";

/** @param ownService that of a target that changes. @throws Refused with all problems of the configuration. */
export function configOf(
  input: Static<typeof AddTargetSchema>,
  { zone }: ProviderSettings,
  ownService: Service = DEFAULT_RADIUS_SERVICE,
): TargetConfig {
  const { webhook, radius, billing = false } = input;
  if (webhook !== undefined && radius !== undefined) throw Refused.field("radius", "cannot be given with webhook");
  if (webhook !== undefined) return { kind: "webhook", url: webhook.url };
  if (radius === undefined) return { kind: "feed" };
  if (billing) throw Refused.field("billing", "is not for RADIUS");
  const { service = ownService, ...file } = radius;
  const read = readRadiusConfig({ timeZone: zone.name, groups: {}, ...file } as unknown as JsonObject, service);
  if (read.ok) return read.value;
  const problems = read.problems.map(({ field, problem }) => ({ field: `radius.${field}`, problem }));
  throw new Refused("invalid", "", problems);
}

/**
 * Refuses two targets of different services in one database, where the same username would be one user.
 * @param own the target that changes. @throws Refused
 */
export async function refuseSameDatabase(db: Db, config: TargetConfig, own?: Target): Promise<void> {
  if (config.kind !== "radius") return;
  for (const { id, name, config: other } of await listTargets(db))
    if (other.kind === "radius" && id !== own?.id && isSameDatabase(other.database, config.database))
      throw Refused.field("radius.database", `is that of the target ${name}: give each target a database of its own`);
}

/** @throws Refused if it is of another kind. */
export function radiusConfigOf({ name, config }: Target): RadiusConfig {
  if (config.kind !== "radius") throw new Refused("conflict", `${name} is not of kind radius`);
  return config;
}

/**
 * Compares a RADIUS server with the records, and corrects differences unless it is a preview. Only the shell has it, since it
 * takes too long for a request. @param onDifference called for each difference.
 * @throws Refused also if the server fails. Portions that were written stay.
 */
export async function reconcileTarget(
  office: Decider & { readonly targets: TargetTools },
  name: string,
  onDifference: (difference: RadiusDifference) => void,
): Promise<RadiusCounts> {
  const { targets, isPreview } = office;
  const config = await decide(office, "reference", async (tx) => {
    const target = await targetNamed(tx, name);
    return {
      answer: radiusConfigOf(target),
      change: { write: async () => {}, audit: [targetHandled("target.reconcile", target)] },
    };
  });
  try {
    return await targets.reconcileRadius(office, config, { isPreview }, onDifference);
  } catch (error) {
    throw error instanceof DeliveryFailed ? new Refused("conflict", error.message) : error;
  }
}
