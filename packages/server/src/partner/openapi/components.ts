import type { CurrencyExponent } from "../../domain/money.ts";

/** Any part of an OpenAPI document. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Schemas by name, as a document's `components.schemas`. */
export type Components = Record<string, Json>;

/** What the operations of a document share. */
export interface Shared {
  readonly exponent: CurrencyExponent;
  /** Further headers of every answer of the version. */
  readonly announced: readonly string[];
  /** Each operation adds its schemas here. */
  readonly components: Components;
  readonly publicUrl: string;
}

/**
 * Moves every part with a title into `components` and leaves a reference in its place.
 * @throws Error if two different schemas have the same title.
 */
export function hoist(schema: object, components: Components): Json {
  return place(JSON.parse(JSON.stringify(schema)) as Json, components);
}

function place(part: Json, components: Components): Json {
  if (Array.isArray(part)) return part.map((item) => place(item, components));
  if (part === null || typeof part !== "object") return part;
  const { title, ...rest } = part as Readonly<Record<string, Json>>;
  // A field may be named title; a schema's own title is a string.
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

/** The headers that partners use. */
const HEADERS: Readonly<Record<string, string>> = {
  "x-request-id": "The request's id. Keep it in your log.",
  "cache-control": "`no-store`: nobody on the way may keep the answer.",
  "www-authenticate": "`Bearer`.",
  "retry-after": "Seconds to wait before the next request.",
  "ratelimit-policy": "The limit that refused the request: calls a second, or look-ups an hour.",
  ratelimit: "What is left of that limit, and the seconds until there is more.",
  "idempotent-replayed": "`true` where the top-up had been recorded by an earlier request; else it is not there.",
  deprecation: "Since when the version is deprecated, or from when it will be (RFC 9745).",
  sunset: "When the version is to end (RFC 8594).",
  link: "Where the successor version is.",
};

export function describeHeaders(names: readonly string[]): Record<string, Json> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const description = HEADERS[name];
      return description === undefined ? [] : [[name, { description, schema: { type: "string" } }]];
    }),
  );
}

/** A JSON body with named examples. */
export function jsonContent(schema: Json, examples: readonly (readonly [name: string, value: Json])[]): Json {
  const named = Object.fromEntries(examples.map(([name, value]) => [name, { value }]));
  return { "application/json": { schema, examples: named } };
}
