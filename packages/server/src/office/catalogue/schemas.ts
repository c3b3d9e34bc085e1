import { type Static, Type } from "typebox";
import { AmountSchema, FieldChangeSchema, InstantSchema, oneOf, orNull, ServiceSchema } from "../common.ts";
import { LargeChangeSchema, RejectedLineSchema } from "../imports/schemas.ts";
import { changeWords, countsOf, rejectedWords } from "../imports/tally.ts";
import type { Shown } from "../operation.ts";
import { count, printable } from "../text.ts";

export const BouquetSchema = Type.Object(
  {
    service: ServiceSchema,
    code: Type.String(),
    name: Type.String(),
    price: AmountSchema,
    segments: Type.Array(Type.String()),
    plan: Type.String(),
    addOn: Type.Boolean(),
    months: Type.Integer(),
    days: Type.Integer(),
  },
  { title: "Bouquet" },
);

export const CatalogueSchema = Type.Object(
  {
    revision: orNull(Type.Integer({ description: "Null before the first import." })),
    createdAt: orNull(InstantSchema),
    bouquets: Type.Array(BouquetSchema),
  },
  { title: "Catalogue" },
);

export const CatalogueRevisionSchema = Type.Object(
  {
    revision: Type.Integer(),
    createdAt: InstantSchema,
    bouquets: Type.Integer({ description: "Number of bouquets." }),
  },
  { title: "CatalogueRevision" },
);

export const BouquetChangeSchema = Type.Object({
  kind: oneOf(["added", "changed", "removed"]),
  service: ServiceSchema,
  code: Type.String(),
  fields: Type.Array(FieldChangeSchema),
});

export const CatalogueChangeSchema = Type.Object(
  {
    revision: orNull(Type.Integer({ description: "Number of the new revision; null in a preview." })),
    accepted: Type.Integer(),
    rejected: Type.Integer(),
    added: Type.Integer(),
    changed: Type.Integer(),
    unchanged: Type.Integer(),
    removed: Type.Integer(),
    reorders: Type.Boolean({ description: "Whether the remaining bouquets have another order." }),
    bouquets: Type.Array(BouquetChangeSchema, { description: "At most a thousand." }),
    problems: Type.Array(RejectedLineSchema, { description: "Skipped lines: the first thousand." }),
    largeChange: orNull(LargeChangeSchema),
  },
  { title: "CatalogueChange" },
);

/** A row of a catalogue file. */
export const CatalogueRowSchema = Type.Object({
  service: ServiceSchema,
  code: Type.String(),
  name: Type.String(),
  price: Type.String(),
  segments: Type.Optional(Type.Array(Type.String())),
  plan: Type.String(),
  retired: Type.Optional(Type.Literal(true)),
});

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

/** Warns of a bouquet whose plan or kind changes, since that affects earlier top-ups. */
function reachWords({ service, code, fields }: BouquetChange): string {
  const changed = fields.find(({ field }) => field === "plan" || field === "add-on");
  if (changed === undefined) return "";
  const [what, todo, plan] =
    changed.field === "plan"
      ? ["is of another plan now", "to keep renewals of bought subscriptions together", changed.from]
      : ["is an add-on now, or none any more", "to leave bought subscriptions as they are", "another one"];
  return `${printable(`warning: ${service} ${code} ${what}: ${todo}, name "plan": ${JSON.stringify(plan)} in the row`)}\n`;
}
