import type { LimitName } from "../../domain/account.ts";
import type { Alert } from "../../domain/alert.ts";
import { LOOK_UPS } from "../../domain/partner-limits.ts";
import { DAY_MS, type Instant, readDay } from "../../domain/wall-time.ts";
import type { Db } from "../../store/engine.ts";
import type { Ports } from "../../store/ports.ts";
import { raiseAlert } from "./sql.ts";

/** Numbers of refused calls that are read together. */
const READ_AT_ONCE = 2_000;

/**
 * Raises an alert for each partner, environment and limit that refused a call, at most once on a day of the provider.
 * @param place the last call that was read before; undefined: those of the last 24 hours are read.
 * @returns the last call that was read.
 */
export async function raiseRefusals({ store, clock }: Pick<Ports, "store" | "clock">, place?: number): Promise<number> {
  const { engine, provider } = store;
  const { zone } = provider;
  const dayOf = (at: Instant) => readDay(zone.wallTime(at).slice(0, "YYYY-MM-DD".length), zone);
  const [last, from] = [await lastCall(engine.db), clock() - DAY_MS];
  let read = place ?? (await placeBefore(engine.db, last, from));
  for (; read < last; read += READ_AT_ONCE) {
    const found = new Map<string, readonly [alert: Alert, endsAt: Instant]>();
    for (const alert of await refusalsAfter(engine.db, read, from)) {
      const { kind, partnerId, environment, limit, at } = alert;
      const endsAt = dayOf(at)?.end ?? at;
      const name = JSON.stringify([kind, partnerId, environment, limit, endsAt]);
      if (!found.has(name)) found.set(name, [alert, endsAt]);
    }
    for (const [alert, endsAt] of found.values()) await raiseAlert(engine, alert, endsAt);
  }
  return Math.min(read, last);
}

/** The calls that a limit refused, of the next portion. */
async function refusalsAfter(db: Db, place: number, from: Instant): Promise<Alert[]> {
  const rows = await db
    .selectFrom("refusedCall")
    .select(["at", "partnerId", "environment", "reason", "detail"])
    .where("id", ">", place)
    .where("id", "<=", place + READ_AT_ONCE)
    .where("at", ">=", from)
    .where("detail", "is not", null)
    .orderBy("id")
    .execute();
  return rows.flatMap(({ reason, detail, ...call }): Alert[] => {
    if (detail === LOOK_UPS) return [{ ...call, kind: "look_ups.refused", limit: undefined, low: undefined }];
    return reason === "limit_reached" && detail !== null
      ? [{ ...call, kind: "limit.reached", limit: detail as LimitName, low: undefined }]
      : [];
  });
}

/** A number up to which all calls are from before a time. */
async function placeBefore(db: Db, last: number, from: Instant): Promise<number> {
  for (let place = last; place > 0; place -= READ_AT_ONCE) {
    const row = await db
      .selectFrom("refusedCall")
      .select("at")
      .where("id", "<=", place)
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined || row.at < from) return place;
  }
  return 0;
}

async function lastCall(db: Db): Promise<number> {
  const query = db.selectFrom("refusedCall").select((eb) => eb.fn.max("id").as("last"));
  return Number((await query.executeTakeFirst())?.last ?? 0);
}
