import { accountOf, type News, type Taker, toldChange } from "../domain/news.ts";
import { change } from "./due.ts";
import { type Db, withRawNames } from "./engine.ts";
import type { RawRow } from "./tables.ts";

/**
 * Makes news due at the targets that are told of them. Must be called last in a transaction, after its audit entry if it has
 * one: adding a target writes one too, so that a change cannot miss a target that was added before it.
 */
export async function tell(tx: Db, news: readonly News[]): Promise<void> {
  if (news.length === 0) return;
  const partnerIds = [...new Set(news.map((each) => accountOf(each).partnerId))];
  const rows = await withRawNames(tx)
    .selectFrom("target")
    .select(["id", "partner_id", "environment"])
    .where("partner_id", "in", partnerIds)
    .execute();
  const takers = rows.map(toTaker);
  await change(
    tx,
    news.flatMap((each) => toldChange(each, takers)),
  );
}

export type TakerRow = Pick<RawRow<"target">, "id" | "partner_id" | "environment">;

export function toTaker({ id, partner_id: partnerId, environment }: TakerRow): Taker {
  return { id, partner: partnerId === null || environment === null ? undefined : { partnerId, environment } };
}
