import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { DEFAULT_BASE_PLANS } from "../../src/domain/catalogue.ts";
import { createZone } from "../../src/domain/wall-time.ts";
import { type OpenApiDocument, openApiDocument } from "../../src/partner/openapi/document.ts";
import { VERSIONS } from "../../src/partner/versions/all.ts";

/** The document of a version, as it is committed: for a provider with the default settings. */
export function documentOf(version: string): OpenApiDocument {
  const found = VERSIONS.find(({ name }) => name === version);
  if (found === undefined) throw new Error(`there is no version ${version}`);
  const provider = { zone: createZone("UTC"), currencyExponent: 2, basePlans: DEFAULT_BASE_PLANS };
  return openApiDocument(found, {
    prefix: "/staging/api/third-party",
    publicUrl: undefined,
    provider,
    retirement: undefined,
  });
}

/** What an answer of one operation with one HTTP status is held against. */
interface Check {
  readonly body: ValidateFunction;
  readonly headers: readonly string[];
}

const checks = new Map<string, ReadonlyMap<string, Check>>();

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

/**
 * Holds an answer against the contract. Fields and headers that the contract does not know are wrong too.
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
  const check = known.get(`${operation} ${status}`);
  if (check === undefined) throw new Error(`the contract of ${version} has no ${status} for ${operation}`);
  const problems = [...bodyProblems(check, body), ...(headers === undefined ? [] : headerProblems(check, headers))];
  if (problems.length === 0) return;
  throw new Error(`${operation} of ${version}, ${status}, is not in the contract: ${problems.join("; ")}`);
}

function bodyProblems({ body: validate }: Check, body: unknown): string[] {
  if (validate(body)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

/** Every header that an answer has is described, and what it always has is there. */
function headerProblems({ headers: described }: Check, headers: Readonly<Record<string, unknown>>): string[] {
  const sent = Object.keys(headers).filter((name) => !PASSED_OVER.includes(name));
  const undescribed = sent.filter((name) => !described.includes(name)).map((name) => `${name} is not described`);
  const missing = described.filter((name) => name !== "idempotent-replayed" && !sent.includes(name));
  return [...undescribed, ...missing.map((name) => `${name} is not sent`)];
}

function compile(version: string): ReadonlyMap<string, Check> {
  const document = closed(documentOf(version)) as Document;
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(document, "document");
  const compiled = new Map<string, Check>();
  for (const [path, { post, get }] of Object.entries(document.paths)) {
    for (const [status, { headers }] of Object.entries((post ?? get).responses)) {
      const pointer = [
        "paths",
        path,
        post === undefined ? "get" : "post",
        "responses",
        status,
        "content",
        "application/json",
        "schema",
      ]
        .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
        .join("/");
      const body = ajv.compile({ $ref: `document#/${pointer}` });
      compiled.set(`${path.slice(1)} ${status}`, { body, headers: Object.keys(headers) });
    }
  }
  return compiled;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<"get" | "post", { readonly responses: Responses }>>>>;
}
type Responses = Readonly<Record<string, { readonly headers: object }>>;

/** Every schema of an object with no other fields than its own. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (part === null || typeof part !== "object") return part;
  const members = Object.fromEntries(Object.entries(part).map(([name, member]) => [name, closed(member)]));
  return members["type"] === "object" && members["properties"] !== undefined
    ? { ...members, additionalProperties: false }
    : members;
}
