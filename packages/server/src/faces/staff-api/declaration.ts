import type { TSchema } from "typebox";
import type { Route } from "./route.ts";

type Json = { readonly [name: string]: Json } & readonly Json[] & string;

/**
 * Writes the pages' types of the staff API or the counter. They import nothing: a type for each schema with a title, and `Api` with the
 * flat input and the answer of each operation, by `GET /path`.
 */
export function declarationOf(routes: readonly Route[]): string {
  const named = new Map<string, string>();
  const operations = routes.map(({ method, path, params, query, body, answer }) => {
    const parts = [params, query, typeof body === "object" ? body : undefined];
    const required = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const fields = parts.flatMap((part) => fieldsOf(plain(part), required, named));
    if (body === "file") fields.push("file: File");
    const given = answer === undefined ? "undefined" : answer === "csv" ? "string" : typeOf(plain(answer), named);
    const input = fields.length === 0 ? "Record<string, never>" : `{ ${fields.join("; ")} }`;
    return `  "${method} ${path}": { input: ${input}; answer: ${given} };\n`;
  });
  const types = [...named].map(([name, type]) => `export type ${name} = ${type};\n`);
  const head = "/* Written by the build of the server, from the schemas of the API. */\n";
  return `${head}\n${types.join("")}\nexport interface Api {\n${operations.join("")}}\n`;
}

const plain = (schema: TSchema | undefined) => JSON.parse(JSON.stringify(schema ?? {})) as Json;

function typeOf(schema: Json, named: Map<string, string>): string {
  const { title, type, items, anyOf, enum: words, const: value, patternProperties } = schema;
  if (typeof title === "string") {
    if (!named.has(title)) {
      // Keeps the place of this type before the types inside it.
      named.set(title, "");
      named.set(title, typeOf({ ...(schema as object), title: undefined } as unknown as Json, named));
    }
    return title;
  }
  if (words) return words.map((word) => JSON.stringify(word)).join(" | ");
  if (value !== undefined) return JSON.stringify(value);
  if (anyOf) return anyOf.map((each) => typeOf(each, named)).join(" | ");
  if (type === "array" && items) return `(${typeOf(items, named)})[]`;
  const [record] = Object.values((patternProperties ?? {}) as Record<string, Json>);
  if (record) return `Record<string, ${typeOf(record, named)}>`;
  if (type === "object" && schema["properties"]) return `{ ${fieldsOf(schema, [], named).join("; ")} }`;
  return { integer: "number", object: "Record<string, unknown>" }[type as string] ?? type ?? "unknown";
}

function fieldsOf(schema: Json, needed: readonly unknown[], named: Map<string, string>): string[] {
  const { properties = {}, required = [] } = schema as unknown as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, field]) => {
    const isNeeded = required.includes(name) || needed.includes(name);
    return isNeeded ? `${name}: ${typeOf(field, named)}` : `${name}?: ${typeOf(field, named)} | undefined`;
  });
}
