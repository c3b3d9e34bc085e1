import { Type } from "typebox";
import { AmountSchema, FieldChangeSchema, InstantSchema, oneOf, orNull, ServiceSchema } from "../common.ts";
import { LargeChangeSchema, RejectedLineSchema } from "../imports/schemas.ts";

export const BouquetSchema = Type.Object(
  {
    service: ServiceSchema,
    ...{ code: Type.String(), name: Type.String(), price: AmountSchema },
    segments: Type.Array(Type.String()),
    ...{ plan: Type.String(), addOn: Type.Boolean(), months: Type.Integer(), days: Type.Integer() },
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
  { revision: Type.Integer(), createdAt: InstantSchema, bouquets: Type.Integer({ description: "How many." }) },
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
    revision: orNull(Type.Integer({ description: "The new one; null in a preview." })),
    ...{ accepted: Type.Integer(), rejected: Type.Integer() },
    ...{ added: Type.Integer(), changed: Type.Integer(), unchanged: Type.Integer(), removed: Type.Integer() },
    reorders: Type.Boolean({ description: "Whether those that stay come in another order." }),
    bouquets: Type.Array(BouquetChangeSchema, { description: "The first thousand." }),
    problems: Type.Array(RejectedLineSchema, { description: "Lines that are left out: the first thousand." }),
    largeChange: orNull(LargeChangeSchema),
  },
  { title: "CatalogueChange" },
);

/** A row of a catalogue file. */
export const CatalogueRowSchema = Type.Object({
  ...{ service: ServiceSchema, code: Type.String(), name: Type.String(), price: Type.String() },
  segments: Type.Optional(Type.Array(Type.String())),
  plan: Type.String(),
  retired: Type.Optional(Type.Literal(true)),
});
