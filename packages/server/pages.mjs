// Renders the partners' pages from the Markdown in docs to dist/pages, as parts of HTML without head and body.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
const target = fileURLToPath(new URL("dist/pages/", import.meta.url));
const PAGES = ["partner-guide", "interface", "failures"];

const marked = new Marked({ gfm: true });
marked.use({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      const url = served(href);
      return url === undefined ? words : `<a href="${url}">${words}</a>`;
    },
    code({ text, lang }) {
      return lang === "mermaid" ? `<table>${arrows(text)}</table>\n` : false;
    },
  },
});

mkdirSync(target, { recursive: true });
for (const name of PAGES)
  writeFileSync(join(target, `${name}.html`), marked.parse(readFileSync(join(docs, `${name}.md`), "utf8")));

/** The anchor that GitHub gives a heading. */
function slug(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** Where a running service has what a link leads to; undefined if it has not. */
function served(href) {
  if (/^(https?:|#)/.test(href)) return href;
  const [, page, anchor = ""] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (PAGES.includes(page)) return `/docs/${page}${anchor}`;
  const [, version] = /\/openapi\.(v[0-9.]+\.json)$/.exec(href) ?? [];
  return version === undefined ? undefined : `/openapi/${version}`;
}

/** A state diagram as rows of a table: no browser shows one without a large script. */
function arrows(diagram) {
  const cell = (words) => (words === "[*]" ? "" : words);
  const rows = [...diagram.matchAll(/^ *(\S+) --> (\S+): (.*)$/gm)].map(
    ([, from, to, label]) => `<tr><td>${cell(from)}</td><td>${label}</td><td>${cell(to)}</td></tr>`,
  );
  return `<tr><th>State</th><th>What happens</th><th>Next state</th></tr>${rows.join("")}`;
}
