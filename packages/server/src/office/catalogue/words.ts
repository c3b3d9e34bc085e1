import type { Static } from "typebox";
import { changeWords, countsOf, rejectedWords } from "../imports/words.ts";
import type { Shown } from "../operation.ts";
import { count, printable } from "../text.ts";
import type { BouquetChangeSchema, CatalogueChangeSchema } from "./schemas.ts";

/** A preview lists every change. */
export function changeLines(change: Static<typeof CatalogueChangeSchema>): Shown {
  const { revision, accepted, rejected, added, changed, unchanged, removed, reorders, bouquets, problems } = change;
  const changes = revision === null ? bouquets.map((each) => changeWords(titleOf(each), each.fields)) : [];
  const counts = countsOf({ accepted, rejected, added, changed, unchanged, removed });
  const notes = `${reorders ? ", in another order" : ""}${revision === null ? "" : `, as revision ${revision}`}`;
  return {
    out: `${changes.join("")}${counts}${notes}\n`,
    note: [...problems.map(rejectedWords), ...bouquets.map(reachWords)].join(""),
    wrong: rejected === 0 ? undefined : `${count(rejected, "line")} rejected`,
  };
}

type BouquetChange = Static<typeof BouquetChangeSchema>;

const titleOf = ({ service, code, kind }: BouquetChange) => `${service} ${code} ${kind}`;

/** Warns of a bouquet whose plan or kind changes: that reaches what was bought before. */
function reachWords({ service, code, fields }: BouquetChange): string {
  const changed = fields.find(({ field }) => field === "plan" || field === "add-on");
  if (changed === undefined) return "";
  const [what, todo, plan] =
    changed.field === "plan"
      ? ["is of another plan now", "to keep renewals with what was bought", changed.from]
      : ["is an add-on now, or none any more", "to leave what was bought as it is", "another one"];
  return `${printable(`warning: ${service} ${code} ${what}: ${todo}, name "plan": ${JSON.stringify(plan)} in the row`)}\n`;
}
