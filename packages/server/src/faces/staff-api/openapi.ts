import { STATUS_CODES } from "node:http";
import { type TObject, type TSchema, Type } from "typebox";
import { type Components, hoist, type Json } from "../../partner/openapi/components.ts";
import { closed } from "./operations.ts";
import { PROBLEMS, type ProblemCode } from "./problems.ts";
import { type Route, takesIdempotencyKey } from "./route.ts";

export interface DocumentOptions {
  /** Version of topupd. */
  readonly version: string;
  /** Start of every path. */
  readonly prefix: string;
}

/** The OpenAPI 3.1 document of the staff API, made from the schemas that check its requests and answers. */
export function openApiDocument(routes: readonly Route[], { version, prefix }: DocumentOptions): Record<string, Json> {
  const components: Components = {};
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describe(route, components) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "topupd: the staff API",
      version,
      summary: "All functions of the console, for the provider's staff and systems.",
      description: INTRODUCTION,
      contact: { name: "topupd" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: prefix, description: "The service that serves this document." }],
    security: [{ key: [] }, { session: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: `${name}.` })),
    paths,
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "A key that `topupd staff key add` printed." },
        target: { type: "http", scheme: "bearer", description: "A key that `topupd target key` printed." },
        session: { type: "apiKey", in: "cookie", name: "topupd_session", description: "Set by POST /session." },
      },
      schemas: components,
    },
  };
}

const INTRODUCTION = [
  "Instants are ISO 8601 in UTC. Times without a zone are of the provider's clock. Amounts are decimals in strings.",
  "A list has a `cursor`. Use it to get the next page, until it is null.",
  "Every failure is `application/problem+json` (RFC 9457). Use its `code`; the words may change.",
  "Send a change with an `Idempotency-Key`, and it is made only once: for a day, the same request with the same key gets the same answer. Repeat it if the answer was lost or was 503. `answer_unknown` means that the outcome of the first request is unknown: check it.",
].join("\n\n");

/** Problems that any request can have. */
const ALWAYS: readonly ProblemCode[] = ["cross_site", "invalid", "internal_error", "unavailable"];
const OF_ROLES: readonly ProblemCode[] = ["not_logged_in", "set_up_first", "forbidden"];
/** Problems of the person or key that sends a request. */
const OF_CALLER: Readonly<Record<Route["permission"], readonly ProblemCode[]>> = {
  public: [],
  target: ["not_logged_in"],
  person: ["not_logged_in", "sessions_only"],
  read: ["not_logged_in", "set_up_first"],
  caller: OF_ROLES,
  correct: OF_ROLES,
  settle: OF_ROLES,
  administer: OF_ROLES,
  sell: OF_ROLES,
};
const CHANGING: readonly ProblemCode[] = ["answer_unknown", "already_answered", "key_reused", "too_many_keys"];

function describe(route: Route, components: Components): Json {
  const { method, path, tag, summary, permission, params, query, body, answer } = route;
  const status = String(route.status ?? (answer === undefined ? 204 : 200));
  const content = answer !== undefined && { content: answerContent(answer, components) };
  const others = (route.otherStatuses ?? []).map(({ code }) => [code, { description: OTHERS[code], ...content }]);
  const parameters = [...parametersOf("path", params), ...parametersOf("query", query)];
  if (takesIdempotencyKey(route)) parameters.push(IDEMPOTENCY_KEY);
  return {
    operationId: operationId(method, path),
    summary,
    description: WHO[permission] + (route.asksPassword === true ? ASKS_PASSWORD : ""),
    tags: [tag],
    ...(permission === "public" && { security: [{}] }),
    ...(permission === "target" && { security: [{ target: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: requestContent(body, components) } }),
    responses: {
      [status]: { description: "Success.", ...content },
      ...(Object.fromEntries(others) as object),
      ...failures(problemsOf(route), components),
    },
  };
}

function problemsOf(route: Route): ProblemCode[] {
  const { path, permission, body, problems = [] } = route;
  const ofKey = takesIdempotencyKey(route) ? CHANGING : [];
  const ofPath: readonly ProblemCode[] = path.includes("/:") ? ["not_found"] : [];
  return [...ALWAYS, ...OF_CALLER[permission], ...ofKey, ...ofPath, ...problemsOfBody(body), ...problems];
}

function problemsOfBody(body: Route["body"]): readonly ProblemCode[] {
  if (body === undefined) return [];
  return body === "file" ? ["too_large"] : ["too_large", "too_slow"];
}

const OTHERS = {
  200: "Nothing was made: it is a preview, or was made before.",
  202: "Accepted: it is not done yet.",
} as const;

const WHO: Readonly<Record<Route["permission"], string>> = {
  read: "For every role.",
  correct: "For the roles support and admin.",
  settle: "For the roles finance and admin.",
  administer: "For the role admin.",
  sell: "For sellers.",
  caller: "For every role.",
  person: "For people who are logged in, of every role; not for keys.",
  public: "Without a log-in.",
  target: "For the receiver of a webhook, by the key of its target.",
};

const ASKS_PASSWORD = " It needs the person's own password; keys are refused.";

const IDEMPOTENCY_KEY: Json = {
  name: "Idempotency-Key",
  in: "header",
  description: "1 to 200 printable characters that you choose, new for each new change.",
  schema: { type: "string", minLength: 1, maxLength: 200 },
};

/** The id of an operation, such as `postPartnersByNameTokens` for `POST /partners/:name/tokens`. */
function operationId(method: string, path: string): string {
  const words = path.split(/[/.-]/).filter((word) => word !== "");
  const named = words.map((word) => word.replace(/^:(.)/, (_, first: string) => `By${first.toUpperCase()}`));
  return method.toLowerCase() + named.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function parametersOf(place: "path" | "query", schema: TObject | undefined): Json[] {
  const { properties = {} } = schema ?? {};
  const required: readonly string[] = schema?.required ?? [];
  return Object.entries(properties).map(([name, part]) => {
    const { description, ...rest } = JSON.parse(JSON.stringify(part)) as Record<string, Json>;
    const isRequired = place === "path" || required.includes(name);
    return { name, in: place, ...(description !== undefined && { description }), required: isRequired, schema: rest };
  });
}

function requestContent(body: TSchema | "file", components: Components): Json {
  if (typeof body === "object") return { "application/json": { schema: hoist(closed(body), components) } };
  return Object.fromEntries(["text/csv", "application/x-ndjson", "application/octet-stream"].map((type) => [type, {}]));
}

function answerContent(answer: TSchema | "csv", components: Components): Json {
  if (answer === "csv") return { "text/csv": { schema: { type: "string" } } };
  return { "application/json": { schema: hoist(answer, components) } };
}

const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String({ description: "The problem in words." }),
    status: Type.Integer(),
    code: Type.String({ enum: Object.keys(PROBLEMS), description: "The code for programs." }),
    detail: Type.Optional(Type.String({ description: "The problem of this request." })),
    fields: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), problem: Type.String() }), {
        description: "Problems of parts of the request.",
      }),
    ),
  },
  { title: "Problem" },
);

function failures(codes: readonly ProblemCode[], components: Components): Record<string, Json> {
  const schema = hoist(ProblemSchema, components);
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const own = [...new Set(codes)].filter((code) => PROBLEMS[code].status === status);
      const description = `${STATUS_CODES[status]}: ${own.map((code) => `\`${code}\``).join(", ")}.`;
      return [String(status), { description, content: { "application/problem+json": { schema } } }];
    }),
  );
}
