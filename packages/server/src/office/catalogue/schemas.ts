import { type Static, Type } from "typebox";
import {
  AmountSchema,
  day,
  FieldChangeSchema,
  InstantSchema,
  oneOf,
  orNull,
  ReasonSchema,
  ServiceSchema,
} from "../common.ts";
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

const from = orNull(Type.String({ description: "Day of a dated change, at whose start it comes into force." }));
const author = Type.String();
const reason = orNull(
  Type.String({ description: "Reason of the change; of a file, with the import and the file's name." }),
);

export const CurrentCatalogueSchema = Type.Object(
  {
    ...CatalogueSchema.properties,
    waiting: orNull(Type.Object({ revision: Type.Integer(), from: Type.String(), author, reason })),
  },
  { title: "CurrentCatalogue" },
);

const RevisionStateSchema = oneOf(["current", "previous", "waiting", "withdrawn"]);
export type RevisionState = Static<typeof RevisionStateSchema>;

export const CatalogueRevisionSchema = Type.Object(
  {
    revision: Type.Integer(),
    createdAt: InstantSchema,
    bouquets: Type.Integer({ description: "Number of bouquets." }),
    state: RevisionStateSchema,
    from,
    author,
    reason,
  },
  { title: "CatalogueRevision" },
);

export const BouquetChangeSchema = Type.Object({
  kind: oneOf(["added", "changed", "removed"]),
  service: ServiceSchema,
  code: Type.String(),
  fields: Type.Array(FieldChangeSchema),
});

const NUMBER = {
  revision: orNull(Type.Integer({ description: "Number of the new revision; null in a preview." })),
  from,
};
const DIFFERENCE = {
  reorders: Type.Boolean({ description: "Whether the remaining bouquets have another order." }),
  bouquets: Type.Array(BouquetChangeSchema, { description: "At most a thousand." }),
  warnings: Type.Array(Type.String(), {
    description: "Prices that are probably not meant, and changes that affect earlier top-ups; at most a thousand.",
  }),
};
const COUNTS = {
  added: Type.Integer(),
  changed: Type.Integer(),
  unchanged: Type.Integer(),
  removed: Type.Integer(),
  ...DIFFERENCE,
};
const LARGE = { largeChange: orNull(LargeChangeSchema) };

export const CatalogueChangeSchema = Type.Object({ ...NUMBER, ...COUNTS, ...LARGE }, { title: "CatalogueChange" });

export const CatalogueImportSchema = Type.Object(
  {
    ...NUMBER,
    accepted: Type.Integer(),
    rejected: Type.Integer(),
    ...COUNTS,
    problems: Type.Array(RejectedLineSchema, { description: "Skipped lines: the first thousand." }),
    ...LARGE,
  },
  { title: "CatalogueImport" },
);

export const ShownRevisionSchema = Type.Object(
  {
    ...CatalogueSchema.properties,
    state: RevisionStateSchema,
    from,
    change: orNull(Type.Object(DIFFERENCE, { description: "Change of the current catalogue by a waiting revision." })),
  },
  { title: "ShownRevision" },
);

export const WithdrawnRevisionSchema = Type.Object(
  { revision: Type.Integer(), from: Type.String({ description: "Day that it waited for." }) },
  { title: "WithdrawnRevision" },
);

/** Input that names a revision. */
export const REVISION = {
  revision: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Number of the revision." }),
};

export const ALLOW_LARGE = {
  allowLargeChange: Type.Optional(
    Type.Boolean({ description: "Accept a catalogue that drops more than a fifth of the codes." }),
  ),
};

export const REASON = {
  reason: Type.Optional(
    Type.Unsafe<string>({ ...ReasonSchema, description: "Reason in one line, shown with the revision." }),
  ),
};

export const FROM = {
  from: Type.Optional(
    day("Day after today, at whose start the change comes into force, by the provider's clock (default: at once)."),
  ),
};

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

/** Shows a change; a preview lists every bouquet. */
export function changeLines(change: Static<typeof CatalogueChangeSchema>): Shown {
  return linesOf(change);
}

export function withdrawnLine({ revision, from }: Static<typeof WithdrawnRevisionSchema>): Shown {
  return { out: `revision ${revision} is withdrawn, and does not come into force on ${from}\n` };
}

export function importLines(change: Static<typeof CatalogueImportSchema>): Shown {
  const { accepted, rejected, problems } = change;
  const { out, note } = linesOf(change, { accepted, rejected });
  return {
    out,
    note: `${problems.map(rejectedWords).join("")}${note}`,
    wrong: rejected === 0 ? undefined : `${count(rejected, "line")} rejected`,
  };
}

/** @param lines counts of a file's lines. */
function linesOf(
  {
    revision,
    from: ofDay,
    added,
    changed,
    unchanged,
    removed,
    reorders,
    bouquets,
    warnings,
  }: Static<typeof CatalogueChangeSchema>,
  lines: Readonly<Record<string, number>> = {},
) {
  const changes = revision === null ? bouquets.map((each) => changeWords(titleOf(each), each.fields)) : [];
  const counts = countsOf({ ...lines, added, changed, unchanged, removed });
  const notes = `${reorders ? ", in another order" : ""}${revision === null ? "" : `, as revision ${revision}`}${ofDay === null ? "" : `, from ${ofDay}`}`;
  return {
    out: `${changes.join("")}${counts}${notes}\n`,
    note: warnings.map((each) => `${printable(`warning: ${each}`)}\n`).join(""),
  };
}

type BouquetChange = Static<typeof BouquetChangeSchema>;

const titleOf = ({ service, code, kind }: BouquetChange) => `${service} ${code} ${kind}`;
