import type { Engine } from "../engine.ts";
import type { StaffAccounts } from "../staff.ts";

type Answers = Pick<StaffAccounts, "beginAnswer" | "keepAnswer" | "pruneAnswers">;

export function answersOf(engine: Engine): Answers {
  return {
    beginAnswer: (asked, most) =>
      engine.transact(async (tx) => {
        const insert = tx.insertInto("staff_answer").values({ ...asked, status: null, body: null });
        const { numInsertedOrUpdatedRows: inserted } = await insert
          .onConflict((on) => on.column("hash").doNothing())
          .executeTakeFirstOrThrow();
        const { hash, owner } = asked;
        if (inserted === 1n) {
          if (most === undefined) return undefined;
          const { count } = await tx
            .selectFrom("staff_answer")
            .select((eb) => eb.fn.countAll<number>().as("count"))
            .where("owner", "=", owner)
            .executeTakeFirstOrThrow();
          if (Number(count) <= most) return undefined;
          await tx.deleteFrom("staff_answer").where("hash", "=", hash).execute();
          return "too_many";
        }
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
