import type { StaffAccounts } from "../staff.ts";
import type { Engine } from "./engine.ts";

type Answers = Pick<StaffAccounts, "beginAnswer" | "keepAnswer" | "pruneAnswers">;

export function answersOf(engine: Engine): Answers {
  return {
    beginAnswer: (hash, request, at) =>
      engine.transact(async (tx) => {
        const row = { hash, request, at, status: null, body: null };
        const insert = tx.insertInto("staff_answer").values(row);
        const { numInsertedOrUpdatedRows: inserted } = await insert
          .onConflict((on) => on.column("hash").doNothing())
          .executeTakeFirstOrThrow();
        if (inserted === 1n) return undefined;
        const kept = await tx.selectFrom("staff_answer").selectAll().where("hash", "=", hash).executeTakeFirstOrThrow();
        return { request: kept.request, status: kept.status ?? undefined, body: kept.body ?? undefined };
      }),

    keepAnswer: (hash, status, body) =>
      engine.transact(async (tx) => {
        const values = { status, body: body ?? null };
        await tx.updateTable("staff_answer").set(values).where("hash", "=", hash).execute();
      }),

    pruneAnswers: (before) =>
      engine.transact(async (tx) => {
        await tx.deleteFrom("staff_answer").where("at", "<", before).execute();
      }),
  };
}
