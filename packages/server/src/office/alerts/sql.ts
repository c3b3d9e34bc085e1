import { ALERTS_KEPT_MS, MAILED_WITHIN_MS, NOT_ENDED } from "../../domain/alert.ts";
import { keyOf, type Problem, type ProblemKey } from "../../domain/problem.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { Db, Engine } from "../../store/engine.ts";
import { appendEvents } from "../../store/events.ts";
import type { AlertRow } from "../../store/tables.ts";
import { tell } from "../../store/takers.ts";

/** Records a problem, and its event for the targets, unless it is recorded already. */
export async function raiseAlert(engine: Engine, problem: Problem, now: Instant): Promise<void> {
  const key = keyOf(problem);
  const at = problem.endsAt === undefined ? now : (problem.at ?? now);
  if ((await rowsOf(engine.db, key).executeTakeFirst()) !== undefined) return;
  await engine.transact(async (tx) => {
    // If two processes find the problem at once, the second is refused here.
    const insert = tx.insertInto("alert").values({ ...key, at, mailedAt: null });
    const { numInsertedOrUpdatedRows } = await insert.onConflict((on) => on.doNothing()).executeTakeFirst();
    const isNew = Number(numInsertedOrUpdatedRows) > 0;
    const { event, environment, limit, amount } = problem;
    if (!isNew || event === undefined || environment === undefined) return;
    const { kind, partnerId, below } = event;
    const low = amount === undefined || below === undefined ? undefined : { balance: amount, below };
    await appendEvents(engine, tx, [{ kind, at, alert: { kind, partnerId, environment, at, limit, low } }]);
    if (kind === "account.low") await tell(tx, [{ about: { kind: "low", partnerId, environment, at }, kind, at }]);
  });
}

function rowsOf(db: Db, { kind, environment, subject, limitName, endsAt }: ProblemKey) {
  return db
    .selectFrom("alert")
    .select("at")
    .where((eb) => eb.and({ kind, environment, subject, limitName, endsAt }));
}

function update(
  engine: Engine,
  { kind, environment, subject, limitName, endsAt }: ProblemKey,
  values: Partial<AlertRow>,
) {
  return engine.transact((tx) =>
    tx
      .updateTable("alert")
      .set(values)
      .where((eb) => eb.and({ kind, environment, subject, limitName, endsAt }))
      .execute(),
  );
}

/** Recorded problems that have no fixed end and last. */
export function openAlerts(db: Db): Promise<AlertRow[]> {
  return db.selectFrom("alert").selectAll().where("endsAt", "=", NOT_ENDED).execute();
}

/** Recorded problems whose start, or end, is to be mailed, oldest first. An end is mailed if its start was, or at once. */
export function alertsToMail(db: Db, now: Instant): Promise<AlertRow[]> {
  const since = now - MAILED_WITHIN_MS;
  return db
    .selectFrom("alert")
    .selectAll()
    .where((eb) =>
      eb.or([
        eb.and([eb("mailedAt", "is", null), eb("at", ">", since)]),
        eb.and([eb("mailedAt", "<", eb.ref("endsAt")), eb("endsAt", "<=", now), eb("endsAt", ">", since)]),
      ]),
    )
    .orderBy("at")
    .orderBy("subject")
    .execute();
}

export function noteMailed(engine: Engine, alert: AlertRow, mailedAt: Instant): Promise<unknown> {
  return update(engine, alert, { mailedAt });
}

export function endAlert(engine: Engine, alert: AlertRow, endsAt: Instant): Promise<unknown> {
  return update(engine, alert, { endsAt });
}

/** Deletes old alerts. */
export async function forgetAlerts(engine: Engine, now: Instant): Promise<void> {
  const before = now - ALERTS_KEPT_MS;
  const old = engine.db.selectFrom("alert").select("at").where("endsAt", "<", before).limit(1);
  if ((await old.executeTakeFirst()) === undefined) return;
  await engine.transact((tx) => tx.deleteFrom("alert").where("endsAt", "<", before).execute());
}
