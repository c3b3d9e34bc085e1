import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { FastifyInstance } from "fastify";
import { serveResource } from "./resource.ts";

const require = createRequire(import.meta.url);

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

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** Of Swagger UI, these two are enough. Its plugin for fastify brings them, but would stream them. */
const ASSETS = { "swagger-ui-bundle.js": SCRIPT, "swagger-ui.css": STYLE };

/** What a page shows. */
export interface Shown {
  /** A version, as in the path. */
  readonly name: string;
  /** Where its document is. */
  readonly url: string;
}

/** Serves a page for each document at `/docs/{version}`, and the first one at `/docs` too. */
export function servePages(app: FastifyInstance, documents: readonly Shown[]): void {
  const folder = join(dirname(require.resolve("@fastify/swagger-ui")), "static");
  for (const [name, type] of Object.entries(ASSETS)) {
    serveResource(app, `/docs/${name}`, { type, headers: HEADERS, load: () => readFile(join(folder, name)) });
  }
  for (const [index, shown] of documents.entries()) {
    const page = Buffer.from(renderPage(shown, documents));
    const script = Buffer.from(renderScript(shown));
    const html = { type: "text/html; charset=utf-8", headers: HEADERS, load: () => page };
    for (const url of index === 0 ? ["/docs", "/docs/", `/docs/${shown.name}`] : [`/docs/${shown.name}`]) {
      serveResource(app, url, html);
    }
    serveResource(app, `/docs/${shown.name}.js`, { type: SCRIPT, headers: HEADERS, load: () => script });
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
function renderScript({ url }: Shown): string {
  const options = { url, dom_id: "#interface", deepLinking: true, validatorUrl: null, persistAuthorization: false };
  return `window.ui = SwaggerUIBundle(${JSON.stringify(options)});\n`;
}
