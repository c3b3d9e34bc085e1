import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import type { ProviderSettings } from "../../store/store.ts";
import { JSON_TYPE } from "../failures.ts";
import type { Retirement } from "../versions/version.ts";
import { VERSIONS } from "../versions/version.ts";
import { openApiDocument } from "./document.ts";

const require = createRequire(import.meta.url);

export interface PublishOptions {
  readonly prefix: string;
  readonly provider: ProviderSettings;
  readonly retirements: Readonly<Record<string, Retirement>>;
}

/** A version, as in the path, and where its document is. */
interface Shown {
  readonly name: string;
  readonly url: string;
}

/** What a page may load, and where it may send to: this host and no other. */
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

const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const SCRIPT = { type: "text/javascript; charset=utf-8", headers: HEADERS };
const STYLE = { type: "text/css; charset=utf-8", headers: HEADERS };
const PAGE = { type: "text/html; charset=utf-8", headers: HEADERS };

/** Of Swagger UI, these two are enough. Its plugin for fastify brings them, but would stream them. */
const ASSETS = { "swagger-ui-bundle.js": SCRIPT, "swagger-ui.css": STYLE };

/** Serves the contract of each version at `/openapi/{version}.json`, and as a page at `/docs/{version}`; the current one at `/docs` too. */
export function publishContract(app: FastifyInstance, { prefix, provider, retirements }: PublishOptions): void {
  const folder = join(dirname(require.resolve("@fastify/swagger-ui")), "static");
  for (const [name, kind] of Object.entries(ASSETS))
    serveResource(app, `/docs/${name}`, { ...kind, load: () => readFile(join(folder, name)) });
  const documents = VERSIONS.map(({ name }) => ({ name, url: `/openapi/${name}.json` }));
  for (const [index, version] of VERSIONS.entries()) {
    const { name } = version;
    const url = `/openapi/${name}.json`;
    const make = () => openApiDocument(version, { prefix, provider, retirement: retirements[name] });
    serveResource(app, url, { type: JSON_TYPE, load: () => Buffer.from(JSON.stringify(make())) });
    serveResource(app, `/docs/${name}.js`, { ...SCRIPT, load: () => Buffer.from(renderScript(url)) });
    const page = { ...PAGE, load: () => Buffer.from(renderPage({ name, url }, documents)) };
    for (const path of index === 0 ? ["/docs", "/docs/", `/docs/${name}`] : [`/docs/${name}`])
      serveResource(app, path, page);
  }
}

function renderPage({ name, url }: Shown, documents: readonly Shown[]): string {
  const links = documents.map((other) =>
    other.name === name ? `<strong>${name}</strong>` : `<a href="/docs/${other.name}">${other.name}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>topupd: the interface, ${name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>
body { margin: 0; background: #fafafa }
nav { display: flex; gap: 1.5em; padding: 1em 20px; background: #1b1b1b; color: #fff; font: 16px sans-serif }
nav a { color: #9cf }
</style>
</head>
<body>
<nav><span>topupd</span> ${links.join(" ")} <a href="${url}">OpenAPI</a></nav>
<main id="interface"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/${name}.js"></script>
</body>
</html>
`;
}

/** No validator is asked, and an access token that is typed in is forgotten with the page. */
function renderScript(url: string): string {
  const options = { url, dom_id: "#interface", deepLinking: true, validatorUrl: null, persistAuthorization: false };
  return `window.ui = SwaggerUIBundle(${JSON.stringify(options)});\n`;
}

/** Something that is the same for everybody. */
interface Resource {
  readonly type: string;
  /** Asked for once, by the first who wants it. */
  readonly load: () => Promise<Buffer> | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Serves a resource from memory. Never from a stream: of requests that were sent one behind the other on a connection
 * which then breaks, Node leaves those waiting as they are, and each would keep its file open for ever.
 */
function serveResource(app: FastifyInstance, url: string, { type, load, headers = {} }: Resource): void {
  let loading: ReturnType<typeof pack> | undefined;
  app.get(url, async (request, reply) => {
    loading ??= pack(load);
    const { plain, zipped, etag } = await loading;
    reply.headers({ "content-type": type, etag, vary: "accept-encoding", "cache-control": "no-cache", ...headers });
    if (request.headers["if-none-match"]?.includes(etag) === true) return reply.code(304).send();
    if (!/\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""))) return reply.send(plain);
    return reply.header("content-encoding", "gzip").send(zipped);
  });
}

async function pack(load: Resource["load"]) {
  const plain = await load();
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { plain, zipped: await promisify(gzip)(plain), etag };
}
