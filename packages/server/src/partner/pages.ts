import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { packageFile } from "../built.ts";
import { isoTime } from "../domain/wall-time.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { ProviderSettings, Store } from "../store/store.ts";
import { STRICT_TRANSPORT } from "../system/port-guard.ts";
import type { ServiceState } from "../system/service-state.ts";
import type { Answer } from "./answer.ts";
import type { Route } from "./call.ts";
import { JSON_TYPE } from "./failures.ts";
import { openApiDocument } from "./openapi/document.ts";
import { VERSIONS } from "./versions/all.ts";
import type { Retirement } from "./versions/version.ts";

const require = createRequire(import.meta.url);

/** A path for GET and HEAD, without an access token. */
export interface Page extends Route {
  readonly load: (headers: IncomingHttpHeaders) => Promise<Answer>;
}

export function page(url: string, load: Page["load"]): Page {
  return { url, operation: undefined, headers: [], load };
}

interface HealthOptions {
  readonly store: Pick<Store, "ping">;
  readonly state: Readonly<ServiceState>;
  readonly log: (level: "info" | "warn", fields: object, message: string) => void;
  readonly isDraining: () => boolean;
}

/**
 * Health checks for the provider: `/healthz` says that the process lives, `/readyz` that it can serve requests. It is
 * ready even if all top-ups fail: look-ups still work.
 */
export function healthPages({ store, state, log, isDraining }: HealthOptions): Page[] {
  let wasUnavailable = false;
  const ready = async () => {
    if (isDraining()) return json(503, { status: "shutting down" });
    const failure = await store.ping().then(() => undefined, describeFailure);
    const isUnavailable = failure !== undefined;
    // A proxy that uses this answer sends no requests, so no failed request is logged.
    if (wasUnavailable && !isUnavailable) log("info", {}, "ready again: the store is available");
    if (isUnavailable && !wasUnavailable) log("warn", failure, "not ready: the store is unavailable");
    wasUnavailable = isUnavailable;
    const { recordingFailsSince, clockSetBackFrom } = state;
    return json(isUnavailable ? 503 : 200, {
      status: isUnavailable ? "store unavailable" : "ready",
      ...(recordingFailsSince !== undefined && { recordingFailsSince: isoTime(recordingFailsSince) }),
      ...(clockSetBackFrom !== undefined && { clockSetBackFrom: isoTime(clockSetBackFrom) }),
    });
  };
  return [page("/healthz", async () => json(200, { status: "ok" })), page("/readyz", ready)];
}

const JSON_HEADERS = ["content-type", JSON_TYPE];

function json(status: number, value: object): Answer {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

function describeFailure(error: unknown): { cause: string } | { err: unknown } {
  // Any other error is a defect, and its message may quote stored data.
  return error instanceof StoreUnavailable ? { cause: error.message } : { err: error };
}

interface PublishOptions {
  readonly prefix: string;
  readonly publicUrl: string | undefined;
  readonly provider: ProviderSettings;
  readonly retirements: Readonly<Record<string, Retirement>>;
}

/** The text and the URL of a link. */
interface Shown {
  readonly name: string;
  readonly url: string;
}

/** Pages load from and send to this host only. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = [
  "content-security-policy",
  CONTENT_SECURITY_POLICY,
  "referrer-policy",
  "no-referrer",
  "x-content-type-options",
  "nosniff",
];

const SCRIPT = { type: "text/javascript; charset=utf-8", headers: HEADERS };
const STYLE = { type: "text/css; charset=utf-8", headers: HEADERS };
const PAGE = { type: "text/html; charset=utf-8", headers: HEADERS };

/** The needed files of Swagger UI. Its fastify plugin contains them, but would stream them. */
const ASSETS = { "swagger-ui-bundle.js": SCRIPT, "swagger-ui.css": STYLE };

/** The pages that the build renders from Markdown (pages.mjs). */
const PAGES_FOLDER = packageFile("dist/pages");
const GUIDES: readonly Shown[] = [
  { name: "Guide", url: "/docs/partner-guide" },
  { name: "Interface and changes", url: "/docs/interface" },
  { name: "Failures", url: "/docs/failures" },
];
/** The base URL in the examples of those pages. */
const EXAMPLE_BASE = "http://127.0.0.1:8080";
const EXAMPLE_PREFIX = "/staging/api/third-party";

/** The contract of each version at `/openapi/{version}.json` and `/docs/{version}`, and the guides. `/docs` is the current one. */
export function contractPages(options: PublishOptions): Page[] {
  const { prefix, publicUrl, provider, retirements } = options;
  const folder = join(dirname(require.resolve("@fastify/swagger-ui")), "static");
  const assets = Object.entries(ASSETS).map(([name, kind]) =>
    resource(`/docs/${name}`, { ...kind, load: () => readFile(join(folder, name)) }),
  );
  const versions = VERSIONS.flatMap((version, index) => {
    const { name } = version;
    const url = `/openapi/${name}.json`;
    const make = () => openApiDocument(version, { prefix, publicUrl, provider, retirement: retirements[name] });
    const operations = { ...PAGE, load: () => Buffer.from(renderOperations({ name, url })) };
    return [
      resource(url, { type: JSON_TYPE, load: () => Buffer.from(JSON.stringify(make())) }),
      resource(`/docs/${name}.js`, { ...SCRIPT, load: () => Buffer.from(renderScript(url)) }),
      ...[`/docs/${name}`, ...(index === 0 ? ["/docs", "/docs/"] : [])].map((path) => resource(path, operations)),
    ];
  });
  const guides = GUIDES.map((guide) => {
    const load = async () => {
      const text = await readFile(join(PAGES_FOLDER, `${guide.url.slice("/docs/".length)}.html`), "utf8");
      const examples = text.replaceAll(EXAMPLE_BASE + EXAMPLE_PREFIX, (publicUrl ?? EXAMPLE_BASE) + prefix);
      return Buffer.from(renderLayout(guide, `<main class="text">\n${examples}</main>`));
    };
    return resource(guide.url, { ...PAGE, load });
  });
  const headers = publicUrl?.startsWith("https:") === true ? STRICT_TRANSPORT : [];
  return [...assets, ...versions, ...guides].map((each) => ({ ...each, headers }));
}

function renderOperations({ name, url }: Shown): string {
  const content = `<link rel="stylesheet" href="/docs/swagger-ui.css">
<main id="interface"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/${name}.js"></script>`;
  return renderLayout({ name, url: `/docs/${name}` }, content, `<a href="${url}">OpenAPI</a>`);
}

/** A page with links to all others. */
function renderLayout(shown: Shown, content: string, more = ""): string {
  const versions = VERSIONS.map(({ name }) => ({ name, url: `/docs/${name}` }));
  const links = [...GUIDES, ...versions].map(({ name, url }) =>
    url === shown.url ? `<strong>${name}</strong>` : `<a href="${url}">${name}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>topupd: ${shown.name}</title>
<link rel="icon" href="data:,">
<style>
body { margin: 0; background: #fafafa }
nav { display: flex; flex-wrap: wrap; gap: 1.5em; padding: 1em 20px; background: #1b1b1b; color: #fff; font: 16px sans-serif }
nav a { color: #9cf }
.text { max-width: 60em; margin: auto; padding: 0 20px 4em; font: 16px/1.5 sans-serif }
.text pre { overflow-x: auto; padding: 1em; background: #eee }
.text table { display: block; overflow-x: auto; border-collapse: collapse }
.text th, .text td { padding: .3em .6em; border: 1px solid #ccc; text-align: left; vertical-align: top }
</style>
</head>
<body>
<nav><span>topupd</span> ${links.join(" ")} ${more}</nav>
${content}
</body>
</html>
`;
}

/** No external validator; a typed access token is not stored. */
function renderScript(url: string): string {
  const options = { url, dom_id: "#interface", deepLinking: true, validatorUrl: null, persistAuthorization: false };
  return `window.ui = SwaggerUIBundle(${JSON.stringify(options)});\n`;
}

/** Content that is the same for every reader. */
interface Resource {
  readonly type: string;
  /** Called once, at the first request. */
  readonly load: () => Promise<Buffer> | Buffer;
  readonly headers?: readonly string[];
}

const REVALIDATED = ["vary", "accept-encoding", "cache-control", "no-cache"];

/** Serves from memory, not from a stream: if a connection breaks, Node never closes the files of waiting requests. */
function resource(url: string, { type, load, headers = [] }: Resource): Page {
  let loading: ReturnType<typeof pack> | undefined;
  return page(url, async (asked) => {
    loading ??= pack(load);
    const { plain, zipped, etag } = await loading;
    const own = ["content-type", type, "etag", etag, ...REVALIDATED, ...headers];
    if (asked["if-none-match"]?.includes(etag) === true) return { status: 304, headers: own, body: "" };
    if (!/\bgzip\b/.test(String(asked["accept-encoding"] ?? ""))) return { status: 200, headers: own, body: plain };
    return { status: 200, headers: [...own, "content-encoding", "gzip"], body: zipped };
  });
}

async function pack(load: Resource["load"]) {
  const plain = await load();
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { plain, zipped: await promisify(gzip)(plain), etag };
}
