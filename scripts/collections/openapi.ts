/*
 * The parts of an OpenAPI document that the collections use.
 */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Content {
  readonly "application/json": {
    readonly schema: Schema;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
}

interface Response {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly requestBody: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface OpenApi {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly servers: readonly [{ readonly url: string }];
  /** Paths without `post` are the extension. */
  readonly paths: Readonly<Record<string, { readonly post?: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * The operation of that operationId, and its path after the server's URL.
 * @throws Error if the document has none.
 */
export function operationOf(document: OpenApi, id: string): { readonly path: string; readonly operation: Operation } {
  for (const [path, { post }] of Object.entries(document.paths))
    if (post?.operationId === id) return { path, operation: post };
  throw new Error(`the document has no operation ${id}`);
}

/** The schema of a request. */
export function requestOf(document: OpenApi, operation: Operation): Schema {
  return resolve(document, operation.requestBody.content["application/json"].schema);
}

/** The first example of a request. */
export function exampleOf(operation: Operation): Readonly<Record<string, string>> {
  const [example] = Object.values(operation.requestBody.content["application/json"].examples);
  if (example === undefined) throw new Error(`${operation.operationId} has no example`);
  return example.value as Record<string, string>;
}

/** The schema of a success. */
export function answerOf(document: OpenApi, operation: Operation): Schema {
  const response = operation.responses["200"];
  if (response === undefined) throw new Error(`${operation.operationId} has no success`);
  return resolve(document, response.content["application/json"].schema);
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly body: Readonly<Record<string, string>>;
}

/**
 * How an operation refuses for that reason.
 * @throws Error if it never does.
 */
export function refusalOf(operation: Operation, reason: string): Refusal {
  for (const [status, { content }] of Object.entries(operation.responses)) {
    const example = content["application/json"].examples[reason];
    if (example !== undefined) return { status: Number(status), ...(example.value as Omit<Refusal, "status">) };
  }
  throw new Error(`${operation.operationId} never refuses with ${reason}`);
}

/**
 * The fields that lead from a schema to the one that is wanted, not through lists.
 * @throws Error if none does.
 */
export function pathTo(document: OpenApi, from: Schema, isWanted: (name: string, schema: Schema) => boolean): string[] {
  const path = search(document, from, isWanted);
  if (path === undefined) throw new Error("the document has no such field");
  return path;
}

function search(
  document: OpenApi,
  from: Schema,
  isWanted: (name: string, schema: Schema) => boolean,
): string[] | undefined {
  for (const [name, schema] of Object.entries(resolve(document, from).properties ?? {})) {
    if (isWanted(name, schema)) return [name];
    const rest = search(document, schema, isWanted);
    if (rest !== undefined) return [name, ...rest];
  }
  return undefined;
}

/**
 * The schema at the end of these fields.
 * @throws Error if one of them is not there.
 */
export function fieldOf(document: OpenApi, from: Schema, ...path: readonly string[]): Schema {
  return path.reduce(
    (schema, name) => {
      const field = schema.properties?.[name];
      if (field === undefined) throw new Error(`the document has no field ${name}`);
      return resolve(document, field);
    },
    resolve(document, from),
  );
}

/** The schema that a reference names. */
export function resolve(document: OpenApi, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.slice("#/components/schemas/".length);
  const found = document.components.schemas[name];
  if (found === undefined) throw new Error(`the document has no schema ${name}`);
  return found;
}
