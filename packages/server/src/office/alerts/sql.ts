import { ALERTS_KEPT_MS, type Alert, MAILED_WITHIN_MS } from "../../domain/alert.ts";
import type { Environment } from "../../domain/customer.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db, Engine } from "../../store/engine.ts";
import { appendEvents } from "../../store/events.ts";
import type { AlertRow } from "../../store/tables.ts";

export interface StoredAlert extends Alert {
  /** Name of the partner. */
  readonly partner: string;
  readonly endsAt: Instant;
}

/** Records an alert, and its event for the targets, unless the crossing has its alert already. */
export async function raiseAlert(engine: Engine, alert: Alert, endsAt: Instant): Promise<void> {
  const { kind, at, low } = alert;
  const name = nameOf({ ...alert, endsAt });
  const query = engine.db.selectFrom("alert").select("at");
  if ((await query.where((eb) => eb.and(name)).executeTakeFirst()) !== undefined) return;
  const amounts = { balance: low ? Number(low.balance) : null, below: low ? Number(low.below) : null };
  await engine.transact(async (tx) => {
    // If two processes find the crossing at once, the second is refused here.
    const insert = tx.insertInto("alert").values({ ...name, ...amounts, at, mailedAt: null });
    const { numInsertedOrUpdatedRows } = await insert.onConflict((on) => on.doNothing()).executeTakeFirst();
    if (Number(numInsertedOrUpdatedRows) > 0) await appendEvents(engine, tx, [{ kind, at, alert }]);
  });
}

/** The key of an alert. */
function nameOf({ kind, partnerId, environment, limit, endsAt }: Omit<StoredAlert, "partner">) {
  return { kind, partnerId, environment, limitName: limit ?? ("" as const), endsAt };
}

function update(engine: Engine, alert: StoredAlert, values: Partial<AlertRow>): Promise<unknown> {
  return engine.transact((tx) =>
    tx
      .updateTable("alert")
      .set(values)
      .where((eb) => eb.and(nameOf(alert)))
      .execute(),
  );
}

/** Alerts that have not ended, oldest first. @param environment undefined for both. */
export async function openAlerts(db: Db, now: Instant, environment?: Environment): Promise<StoredAlert[]> {
  const query = alerts(db).where("a.endsAt", ">", now);
  const rows = await (environment === undefined ? query : query.where("a.environment", "=", environment)).execute();
  return rows.map(toAlert);
}

/** Alerts whose mail is still to be sent, oldest first. */
export async function alertsToMail(db: Db, now: Instant): Promise<StoredAlert[]> {
  const query = alerts(db)
    .where("a.mailedAt", "is", null)
    .where("a.at", ">", now - MAILED_WITHIN_MS);
  return (await query.execute()).map(toAlert);
}

export function noteMailed(engine: Engine, alert: StoredAlert, mailedAt: Instant): Promise<unknown> {
  return update(engine, alert, { mailedAt });
}

export function endAlert(engine: Engine, alert: StoredAlert, endsAt: Instant): Promise<unknown> {
  return update(engine, alert, { endsAt });
}

/** Deletes old alerts. */
export async function forgetAlerts(engine: Engine, now: Instant): Promise<void> {
  const before = now - ALERTS_KEPT_MS;
  const old = engine.db.selectFrom("alert").select("at").where("endsAt", "<", before).limit(1);
  if ((await old.executeTakeFirst()) === undefined) return;
  await engine.transact((tx) => tx.deleteFrom("alert").where("endsAt", "<", before).execute());
}

function alerts(db: Db) {
  return db
    .selectFrom("alert as a")
    .innerJoin("partner as p", "p.id", "a.partnerId")
    .selectAll("a")
    .select("p.name as partner")
    .orderBy("a.at")
    .orderBy("a.partnerId");
}

function toAlert(row: AlertRow & { readonly partner: string }): StoredAlert {
  const { kind, partnerId, partner, environment, at, endsAt, limitName, balance, below } = row;
  const low = balance === null || below === null ? undefined : { balance: BigInt(balance), below: BigInt(below) };
  return { kind, partnerId, partner, environment, at, endsAt, limit: limitName || undefined, low };
}
