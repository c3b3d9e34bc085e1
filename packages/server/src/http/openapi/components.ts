/** Any piece of an OpenAPI document. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Schemas by name, as a document's `components.schemas`. */
export type Components = Record<string, Json>;

/**
 * The schema with a reference in place of every part that has a title; those parts are put into `components`.
 * @throws Error where one title stands for two schemas.
 */
export function hoist(schema: object, components: Components): Json {
  return place(JSON.parse(JSON.stringify(schema)) as Json, components);
}

function place(part: Json, components: Components): Json {
  if (Array.isArray(part)) return part.map((item) => place(item, components));
  if (part === null || typeof part !== "object") return part;
  const { title, ...rest } = part as Readonly<Record<string, Json>>;
  // A field may be called title: only a schema's own is a text.
  if (typeof title !== "string") return placeMembers(part as Readonly<Record<string, Json>>, components);
  const component = placeMembers(rest, components);
  const known = components[title];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(component))
    throw new Error(`two schemas are called ${title}`);
  components[title] = component;
  return { $ref: `#/components/schemas/${title}` };
}

function placeMembers(members: Readonly<Record<string, Json>>, components: Components): Json {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, place(member, components)]));
}
