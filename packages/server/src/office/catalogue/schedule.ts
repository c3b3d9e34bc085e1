import { isInForce, revisionInForce, type Scheduled } from "../../domain/catalogue.ts";
import type { Environment } from "../../domain/customer.ts";
import { Refused } from "../../domain/refused.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import { readSchedule } from "../../store/reference-cache.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { daysOf } from "../common.ts";
import type { Decider } from "../decide.ts";
import type { RevisionState } from "./schemas.ts";

/* Changes of the catalogue that are dated. At most one waits in an environment. */

export interface Standing {
  /** Undefined before the first revision in force. */
  readonly current: number | undefined;
  /** The newest revision, if its day has not come. */
  readonly waiting: Scheduled | undefined;
}

export async function readStanding(db: Db, environment: Environment, now: Instant): Promise<Standing> {
  const schedule = await readSchedule(db, environment);
  const waiting = schedule.slice(0, 1).find((newest) => !isInForce(newest, now));
  return { current: revisionInForce(schedule, now), waiting };
}

/** The start of the day of a change. @throws Refused if the day is not after today. */
export function readFrom({ by, store }: Decider, from: string): Instant {
  const { from: start } = daysOf({ store }, { from, to: from });
  if (start > by.at) return start;
  throw Refused.field("from", "must be a day after today: without it, the change is in force at once");
}

export function refuseWaiting(waiting: Scheduled, provider: ProviderSettings): never {
  const words = `revision ${waiting.revision} waits for ${dayOfRevision(waiting, provider)}`;
  throw new Refused("conflict", `${words}: withdraw it first`);
}

/** The day of a dated revision; null without one, or if it was withdrawn. */
export function fromOf(
  { createdAt, inForceAt }: { readonly createdAt: Instant; readonly inForceAt: Instant | null },
  provider: ProviderSettings,
): string | null {
  return inForceAt === null || inForceAt === createdAt ? null : dayOfRevision({ inForceAt }, provider);
}

/** The day on which a waiting revision comes into force. */
export function dayOfRevision({ inForceAt }: Pick<Scheduled, "inForceAt">, { zone }: ProviderSettings): string {
  return zone.wallTime(inForceAt).slice(0, "YYYY-MM-DD".length);
}

export function stateOf(
  { revision, inForceAt }: { readonly revision: number; readonly inForceAt: Instant | null },
  { current, waiting }: Standing,
): RevisionState {
  if (inForceAt === null) return "withdrawn";
  if (revision === current) return "current";
  return revision === waiting?.revision ? "waiting" : "previous";
}
