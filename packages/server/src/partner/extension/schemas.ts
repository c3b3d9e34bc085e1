import { type TSchema, Type } from "typebox";

/* Schemas that the reports share. */

export function money(description: string) {
  return Type.Number({ description: `${description} In major units.` });
}

export function orNull<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** The fields of every list. */
export function listFields<Item extends TSchema>(item: Item) {
  return {
    from: Type.String({ description: "The first day." }),
    to: Type.String({ description: "The last day." }),
    items: Type.Array(item, { description: "Oldest first." }),
    next: orNull(Type.String(), "The `cursor` of the next page; null after the last."),
  };
}
