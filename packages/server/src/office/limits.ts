import type { Money } from "../domain/money.ts";
import { Refused } from "../domain/refused.ts";
import { rightsQuery } from "../store/audit.ts";
import type { Db } from "../store/engine.ts";
import type { Ports } from "../store/ports.ts";
import type { BulkRunRow } from "../store/tables.ts";
import type { Decider } from "./decide.ts";

/** The part of the office that a correction needs. */
export type Corrector = Limited & Pick<Ports, "random">;

type Limited = Decider & { readonly limits: Limits | undefined };

/** Limits of accounts and API keys. The command line has none, because its user controls the database. */
export interface Limits {
  /** Days of goodwill that one account or key of the role support can give in a day. */
  readonly supportGoodwillDays: number;
  /** Connections that it can correct in bulk in a day. */
  readonly supportBulk: number;
  /** A bulk change of more connections needs a second person. */
  readonly secondPersonBulk: number;
  /** A reversal of a larger amount needs a second person; undefined if none does. */
  readonly secondPersonReversal: Money | undefined;
}

/** Counts a bulk change: goodwill counts the days of all its connections. @throws Refused */
export async function countBulk(office: Limited, tx: Db, { count, days }: Pick<BulkRunRow, "count" | "days">) {
  await countToday(office, tx, "bulkConnections", count);
  if (days !== null) await countToday(office, tx, "goodwillDays", count * days);
}

const DAILY = {
  goodwillDays: { limit: "supportGoodwillDays", what: "days of goodwill" },
  bulkConnections: { limit: "supportBulk", what: "connections in bulk changes" },
} as const;

/**
 * Counts work toward the author's limit of today. The count stays locked until the end of the transaction, so that parallel
 * work cannot exceed the limit.
 * @throws Refused
 */
export async function countToday(office: Limited, tx: Db, kind: keyof typeof DAILY, count: number): Promise<void> {
  const { limits, isPreview, store } = office;
  const { author, authority, at } = office.by;
  if (limits === undefined || authority === undefined) return;
  if ((await rightsQuery(tx, authority).executeTakeFirst())?.role !== "support") return;
  const day = store.provider.zone.wallTime(at).slice(0, 10);
  if (!isPreview) {
    await tx
      .insertInto("staffDay")
      .values({ author, day, goodwillDays: 0, bulkConnections: 0, [kind]: count })
      .onConflict((on) =>
        on.columns(["author", "day"]).doUpdateSet((eb) => ({ [kind]: eb(`staffDay.${kind}`, "+", count) })),
      )
      .execute();
    await tx.deleteFrom("staffDay").where("author", "=", author).where("day", "<", day).execute();
  }
  const counted = tx.selectFrom("staffDay").select(kind).where("author", "=", author).where("day", "=", day);
  const sum = ((await counted.executeTakeFirst())?.[kind] ?? 0) + (isPreview ? count : 0);
  const { limit, what } = DAILY[kind];
  if (sum <= limits[limit]) return;
  const left = Math.max(0, limits[limit] - (sum - count));
  throw new Refused("forbidden", `${left} of your ${limits[limit]} ${what} are left today: ask an admin to do it`);
}
