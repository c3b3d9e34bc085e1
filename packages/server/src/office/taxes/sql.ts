import { ENVIRONMENTS } from "../../domain/customer.ts";
import type { Tax } from "../../domain/tax.ts";
import type { Db } from "../../store/engine.ts";
import type { Tables } from "../../store/tables.ts";

/** All taxes, in any order. */
export async function readTaxes(db: Db): Promise<Tax[]> {
  const rows = await db.selectFrom("tax").selectAll().execute();
  return rows.map(({ fromDay: from, ...tax }) => ({ ...tax, from }));
}

export function putTax(tx: Db, { service, name, share, from: fromDay }: Tax) {
  const row: Tables["tax"] = { service, name, share, fromDay };
  const put = tx.insertInto("tax").values(row);
  return put.onConflict((on) => on.columns(["service", "name", "fromDay"]).doUpdateSet({ share })).execute();
}

export function deleteTax(tx: Db, { service, name, from }: Tax) {
  const own = tx.deleteFrom("tax").where("service", "=", service).where("name", "=", name);
  return own.where("fromDay", "=", from).execute();
}

/** The last day, not before `from`, on which a service was topped up in any environment. */
export async function lastSaleSince(db: Db, service: Tax["service"], from: string): Promise<string | undefined> {
  const sales = db.selectFrom("salesDay").select("day").where("environment", "in", ENVIRONMENTS);
  const own = sales.where("day", ">=", from).where("service", "=", service).where("topUps", ">", 0);
  return (await own.orderBy("day", "desc").limit(1).executeTakeFirst())?.day;
}
