import { type RawBuilder, sql } from "kysely";
import type { ServiceStep } from "../domain/service-step.ts";
import type { Db } from "./engine.ts";
import type { ServiceStepRow } from "./tables.ts";

/** Keeps what is on record of the same event: its first times, and what its receiver confirmed. */
const KEPT = sql`service_step.seq = excluded.seq AND service_step.ended_at IS NOT NULL`;
const unlessConfirmed = (column: "outcome" | "detail" | "ended_at"): RawBuilder<never> =>
  sql`CASE WHEN ${KEPT} THEN service_step.${sql.ref(column)} ELSE excluded.${sql.ref(column)} END`;
const first = (column: "sent_at" | "accepted_at"): RawBuilder<never> =>
  sql`CASE WHEN service_step.seq = excluded.seq AND service_step.${sql.ref(column)} IS NOT NULL
    THEN service_step.${sql.ref(column)} ELSE excluded.${sql.ref(column)} END`;

/** Writes steps of different connections at a target. A step of a later event is kept. */
export async function putSteps(tx: Db, targetId: number, steps: readonly ServiceStep[]): Promise<void> {
  if (steps.length === 0) return;
  await tx
    .insertInto("serviceStep")
    .values(steps.map((step) => toRow(targetId, step)))
    .onConflict((on) =>
      on
        .columns(["targetId", "environment", "service", "reqId"])
        .doUpdateSet({
          ...{ cuid: sql`excluded.cuid`, seq: sql`excluded.seq`, kind: sql`excluded.kind`, at: sql`excluded.at` },
          ...{ sentAt: first("sent_at"), acceptedAt: first("accepted_at") },
          ...{
            endedAt: unlessConfirmed("ended_at"),
            outcome: unlessConfirmed("outcome"),
            detail: unlessConfirmed("detail"),
          },
        })
        .where(sql<boolean>`excluded.seq >= service_step.seq`),
    )
    .execute();
}

/**
 * Records a confirmation. A step of a later event is kept, and a repeated confirmation changes nothing.
 * @returns whether it was new, and the number of the event that is on record now.
 */
export async function confirmStep(
  tx: Db,
  targetId: number,
  step: ServiceStep,
): Promise<{ readonly isNew: boolean; readonly last: number }> {
  const { environment, service, reqId } = step.key;
  const isNew = sql<boolean>`excluded.seq > service_step.seq OR (excluded.seq = service_step.seq
    AND (service_step.ended_at IS NULL OR service_step.outcome <> excluded.outcome))`;
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("serviceStep")
    .values(toRow(targetId, step))
    .onConflict((on) =>
      on
        .columns(["targetId", "environment", "service", "reqId"])
        .doUpdateSet({
          ...{ cuid: sql`excluded.cuid`, seq: sql`excluded.seq`, kind: sql`excluded.kind`, at: sql`excluded.at` },
          ...{ sentAt: first("sent_at"), acceptedAt: first("accepted_at") },
          ...{ endedAt: sql`excluded.ended_at`, outcome: sql`excluded.outcome`, detail: sql`excluded.detail` },
        })
        .where(isNew),
    )
    .executeTakeFirst();
  const query = tx.selectFrom("serviceStep").select("seq").where("targetId", "=", targetId);
  const { seq: last } = await query.where((eb) => eb.and({ environment, service, reqId })).executeTakeFirstOrThrow();
  return { isNew: Number(numInsertedOrUpdatedRows) > 0, last };
}

function toRow(targetId: number, { key, ...step }: ServiceStep): ServiceStepRow {
  const { environment, cuid, service, reqId } = key;
  const { sentAt = null, acceptedAt = null, endedAt = null, detail = null } = step;
  return {
    targetId,
    environment,
    service,
    reqId,
    cuid,
    ...step,
    sentAt,
    acceptedAt,
    endedAt,
    detail: detail?.replaceAll("\0", "\uFFFD") ?? null,
  };
}

export function toStep(row: ServiceStepRow): ServiceStep {
  const { environment, cuid, service, reqId, seq, kind, at, outcome } = row;
  const key = { environment, cuid, service, reqId };
  const times = { sentAt: row.sentAt ?? undefined, acceptedAt: row.acceptedAt ?? undefined };
  const end = { endedAt: row.endedAt ?? undefined, outcome, detail: row.detail ?? undefined };
  return { key, seq, kind, at, ...times, ...end };
}
