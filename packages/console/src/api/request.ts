import type { Api, Me, StaffKey, Transaction } from "./staff-api.d.ts";

/** Name of an operation of the staff API, such as `GET /partners/:name`. */
export type Key = keyof Api;
/** Path, query and body of an operation in one flat object. */
export type Input<K extends Key> = Api[K]["input"];
export type Answer<K extends Key> = Api[K]["answer"];

type KeyWith<Field extends string> = { [K in Key]: Field extends keyof Input<K> ? K : never }[Key];
type KeyThatAnswers<Shape> = { [K in Key]: Answer<K> extends Shape ? K : never }[Key];

export type DownloadKey = KeyThatAnswers<string>;
export type ReadKey = Exclude<Extract<Key, `GET ${string}`>, DownloadKey>;
export type PartKey = ReadKey & KeyThatAnswers<{ cursor: string | null }>;
export type PageKey = ReadKey & KeyThatAnswers<{ items: unknown[]; cursor: string | null }>;
export type UploadKey = KeyWith<"file">;
export type ChangeKey = Exclude<Key, `GET ${string}` | UploadKey>;
export type PreviewKey = ChangeKey & KeyWith<"preview">;
export type CorrectionKey = PreviewKey & KeyWith<"reason">;
export type CorrectionInput<K extends CorrectionKey> = Omit<Input<K>, "reason" | "preview">;

/* Types of the staff API without a name of their own. */

export type Environment = Me["provider"]["environment"];
export type Role = NonNullable<StaffKey["role"]>;
export type Permission = Me["permissions"][number];
export type Service = Transaction["service"];

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Query;
  readonly body: unknown;
}

const IN_QUERY = ["environment", "preview"];

/** Splits an input as the server does: path, query (for a GET or a file), body. */
export function requestOf<K extends Key>(key: K, input: Input<K>): ApiRequest {
  const [method = "", template = ""] = key.split(" ");
  const fields = new Map<string, unknown>(Object.entries(input));
  const take = (name: string) => {
    const value = fields.get(name);
    fields.delete(name);
    return value;
  };
  const path = template.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(take(name))));
  const file = take("file");
  const isInQuery = (name: string) => method === "GET" || file !== undefined || IN_QUERY.includes(name);
  const query = Object.fromEntries([...fields].filter(([name]) => isInQuery(name))) as Query;
  const rest = [...fields].filter(([name]) => !isInQuery(name));
  return { method, path, query, body: file ?? (rest.length === 0 ? undefined : Object.fromEntries(rest)) };
}

/** Passes typed texts as input: the API checks them. Empty texts are left out of a query. */
export function asInput<K extends Key, Name extends keyof Input<K>>(
  _key: K,
  texts: Readonly<Record<Name, string | undefined>>,
): Partial<Pick<Input<K>, Name>> {
  return texts as Partial<Pick<Input<K>, Name>>;
}
