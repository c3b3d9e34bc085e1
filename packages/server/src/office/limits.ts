import type { Money } from "../domain/money.ts";
import { rightsQuery } from "../store/audit.ts";
import type { Db, Decider, Office } from "./office.ts";
import { Refused } from "./refused.ts";

/** The part of the office that a correction needs. */
export type Corrector = Decider & Pick<Office, "random" | "limits">;

/** Limits of accounts and API keys. The command line has none, because its user controls the database. */
export interface Limits {
  /** Days of goodwill that one account or key of the role support can give in a day. */
  readonly supportGoodwillDays: number;
  /** A reversal of a larger amount needs a second person; undefined if none does. */
  readonly secondPersonReversal: Money | undefined;
}

/**
 * Counts days of goodwill toward the author's limit of today. The count stays locked until the end of the transaction, so
 * that parallel corrections cannot exceed the limit.
 * @throws Refused
 */
export async function countGoodwill(office: Office, tx: Db, goodwillDays: number): Promise<void> {
  const { limits, isPreview, store } = office;
  const { author, authority, at } = office.by;
  if (limits === undefined || authority === undefined) return;
  if ((await rightsQuery(tx, authority).executeTakeFirst())?.role !== "support") return;
  const day = store.provider.zone.wallTime(at).slice(0, 10);
  const days = tx.selectFrom("staffDay").select("goodwillDays").where("author", "=", author);
  if (!isPreview) {
    await tx
      .insertInto("staffDay")
      .values({ author, day, goodwillDays })
      .onConflict((on) =>
        on
          .columns(["author", "day"])
          .doUpdateSet((eb) => ({ goodwillDays: eb("staffDay.goodwillDays", "+", goodwillDays) })),
      )
      .execute();
    await tx.deleteFrom("staffDay").where("author", "=", author).where("day", "<", day).execute();
  }
  const counted = Number((await days.where("day", "=", day).executeTakeFirst())?.goodwillDays ?? 0);
  const sum = isPreview ? counted + goodwillDays : counted;
  const most = limits.supportGoodwillDays;
  if (sum <= most) return;
  const left = Math.max(0, most - (sum - goodwillDays));
  throw new Refused("forbidden", `${left} of your ${most} days of goodwill are left today: ask an admin to give more`);
}
