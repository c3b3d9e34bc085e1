import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { createCalendar } from "../../src/domain/calendar.ts";
import { type OpenApiDocument, openApiDocument } from "../../src/http/openapi/document.ts";
import { VERSIONS } from "../../src/http/versions/versions.ts";

/** The document of a version, as it is committed: for a provider with the default settings. */
export function documentOf(version: string): OpenApiDocument {
  const found = VERSIONS.find(({ name }) => name === version);
  if (found === undefined) throw new Error(`there is no version ${version}`);
  const provider = { calendar: createCalendar("UTC"), currencyExponent: 2 };
  return openApiDocument(found, { prefix: "/staging/api/third-party", provider, retirement: undefined });
}

const checks = new Map<string, Map<string, ValidateFunction>>();

/**
 * Holds an answer against the contract. Fields that the contract does not know are wrong too.
 * @throws Error that says what does not fit.
 */
export function expectInContract(
  version: string,
  operation: string,
  status: number,
  body: unknown,
  headers?: Readonly<Record<string, unknown>>,
): void {
  const known = checks.get(version) ?? compile(version);
  checks.set(version, known);
  if (headers !== undefined) expectHeadersInContract(version, operation, status, headers);
  const check = known.get(`${operation} ${status}`);
  if (check === undefined) throw new Error(`the contract of ${version} has no ${status} for ${operation}`);
  if (check(body)) return;
  const problems = (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  throw new Error(`${operation} of ${version}, ${status}, is not in the contract: ${problems.join("; ")}`);
}

/** Those of HTTP itself, which no contract describes, and those of a version's end, which the committed one has not. */
const PASSED_OVER = [
  "content-type",
  "content-length",
  "date",
  "connection",
  "keep-alive",
  "deprecation",
  "sunset",
  "link",
];

/** Every header that an answer has is described, and what it always has is there. */
function expectHeadersInContract(
  version: string,
  operation: string,
  status: number,
  headers: Readonly<Record<string, unknown>>,
): void {
  const { paths } = documentOf(version) as unknown as Document;
  const described = Object.keys(paths[`/${operation}`]?.post.responses[status]?.headers ?? {});
  const sent = Object.keys(headers).filter((name) => !PASSED_OVER.includes(name));
  const undescribed = sent.filter((name) => !described.includes(name));
  const missing = described.filter((name) => name !== "idempotent-replayed" && !sent.includes(name));
  if (undescribed.length + missing.length === 0) return;
  throw new Error(
    `${operation} of ${version}, ${status}: not described: ${undescribed.join()}; described, not sent: ${missing.join()}`,
  );
}

function compile(version: string): Map<string, ValidateFunction> {
  const document = closed(documentOf(version)) as Document;
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(document, "document");
  const compiled = new Map<string, ValidateFunction>();
  for (const [path, { post }] of Object.entries(document.paths)) {
    for (const status of Object.keys(post.responses)) {
      const pointer = ["paths", path, "post", "responses", status, "content", "application/json", "schema"]
        .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
        .join("/");
      compiled.set(`${path.slice(1)} ${status}`, ajv.compile({ $ref: `document#/${pointer}` }));
    }
  }
  return compiled;
}

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly post: { readonly responses: Readonly<Record<string, { readonly headers: object }>> } }>
  >;
}

/** Every schema of an object with no other fields than its own. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (part === null || typeof part !== "object") return part;
  const members = Object.fromEntries(Object.entries(part).map(([name, member]) => [name, closed(member)]));
  return members["type"] === "object" && members["properties"] !== undefined
    ? { ...members, additionalProperties: false }
    : members;
}
