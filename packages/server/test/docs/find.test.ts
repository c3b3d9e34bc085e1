import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { headingAnchors, outsideFences } from "../support/markdown.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** A reader's question, its page, and the words to search for: all are in headings or bold entries of the page. */
const QUESTIONS: readonly (readonly [question: string, page: string, ...words: string[]])[] = [
  ["How do I get a token?", "docs/partner-guide.md", "get a token"],
  ["How long do I wait?", "docs/partner-guide.md", "timeout"],
  ["What do I do if an answer is lost?", "docs/partner-guide.md", "answer is lost"],
  ["Why does txn-status answer 404?", "docs/partner-guide.md", "txn-status answers 404"],
  ["How do I write an amount?", "docs/partner-guide.md", "amount format"],
  ["Which time zone do timestamps have?", "docs/partner-guide.md", "time zone"],
  ["From which addresses can I call?", "docs/partner-guide.md", "IP addresses"],
  ["How often can I call?", "docs/partner-guide.md", "rate limit"],
  ["Why does a partner get 429?", "docs/daily-work.md", "partner gets 429"],
  ["How do I cancel or refund a top-up?", "docs/partner-guide.md", "cancel", "refund", "reverse"],
  ["How do I get a certificate?", "docs/partner-guide.md", "get a certificate"],
  ["How do I compare my list with the provider's?", "docs/partner-guide.md", "reconcile"],
  ["Is there an example in PHP?", "docs/partner-guide.md", "PHP"],
  ["How do I set up HTTPS?", "docs/setup.md", "HTTPS"],
  ["How do staff log in with our accounts?", "docs/setup.md", "log-in with OpenID Connect"],
  ["How do I add the first admin?", "docs/setup.md", "first admin"],
  ["What does one machine carry?", "docs/large-providers.md", "one machine"],
  ["How do reports read a standby?", "docs/large-providers.md", "reports on a standby"],
  ["How do I delete old data?", "docs/daily-work.md", "delete", "old data"],
  ["How do I make a backup every hour?", "docs/alerts.md", "hourly backup"],
  ["How do I undo a reversal?", "docs/daily-work.md", "undo a reversal"],
  ["How do I replace a lost password?", "docs/daily-work.md", "lost password"],
  ["Why did the import end with 3?", "docs/daily-work.md", "import ended with 3"],
  ["How do I record a cash top-up?", "docs/daily-work.md", "cash top-up"],
  ["How do I sell without a program?", "docs/counter.md", "sell"],
  ["How do I correct a seller's mistake?", "docs/counter.md", "correct a mistake"],
  ["How do I limit what a partner may owe?", "docs/daily-work.md", "accounts of partners", "credit limit"],
  ["How do I change a price?", "docs/daily-work.md", "change a price"],
  ["Why has a customer who paid no service?", "docs/daily-work.md", "customer paid and has no service"],
  ["How do I delete a customer?", "docs/daily-work.md", "delete a customer"],
  ["How do I add a failure?", "CONTRIBUTING.md", "how to add", "a failure"],
  ["Why is never_topped_up safe?", "docs/architecture.md", "why never_topped_up is safe"],
  ["What is the settler?", "docs/architecture.md", "settler"],
  ["How do I run one test?", "CONTRIBUTING.md", "run one test"],
  ["How do I add a migration?", "CONTRIBUTING.md", "a migration"],
  ["How do I test with my own PostgreSQL?", "CONTRIBUTING.md", "own PostgreSQL for tests"],
  ["How do I add a page to the console?", "CONTRIBUTING.md", "a console page"],
  ["When is a connection active?", "docs/ledger.md", "status", "base plan"],
  ["How do I make a release?", "CONTRIBUTING.md", "make a release"],
  ["How do I debug one process?", "CONTRIBUTING.md", "debug one process"],
];

/** Comments that start with a preposition or a relative pronoun have no subject. At most this many are left. */
const MOST_HEADLESS_COMMENTS = 20;
const HEADLESS =
  /^[ \t]*(\/\*\*|\/\/) (Of|By|For|From|To|In|At|As|Up to|Beside|Since|Also|Where|Without|Once|With|What|Who|Whom|Whose|Whoever)\b.*$/gm;

const sources = readdirSync(join(ROOT, "packages"))
  .flatMap((name) => filesIn(join("packages", name, "src")))
  .filter((path) => /\.(ts|tsx)$/.test(path) && !path.endsWith(".d.ts"))
  .map((path) => ({ path, text: readPage(path) }));

test.each(QUESTIONS)("%s is answered in %s", (_, page, ...words) => {
  const text = outsideFences(readPage(page));
  const entries = [...text.matchAll(/^#+ (.*)$|\*\*([^*]+)\*\*/gm)].map(([, heading, bold]) => heading ?? bold ?? "");
  const found = entries.join("\n").toLowerCase();
  expect(words.filter((word) => !found.includes(word.toLowerCase()))).toEqual([]);
});

describe("comments", () => {
  test("cite pages and headings that exist", () => {
    const cited = sources.flatMap(({ path, text }) =>
      [...joinLines(text).matchAll(/\b(docs\/[a-z-]+\.md)(?:#([\w-]+)|, "([^"]+)"|, ([A-Z][^.);]*))?/g)].map(
        ([citation, page = "", anchor, quoted, plain]) => ({ path, citation, page, anchor, heading: quoted ?? plain }),
      ),
    );
    expect(cited.length).toBeGreaterThan(3);
    const wrong = cited.filter(({ page, anchor, heading }) => !isHeading(page, anchor, heading));
    expect(wrong.map(({ path, citation }) => `${path}: ${citation}`)).toEqual([]);
  });

  test("cite numbered sections of the interface and of RFCs only", () => {
    const vague = /\bdecisions, ["A-Z]|the ledger's page|(?<!interface, |RFC \d+, )\bsections? \d/gi;
    const wrong = sources.flatMap(({ path, text }) =>
      (joinLines(text).match(vague) ?? []).map((it) => `${path}: ${it}`),
    );
    expect(wrong).toEqual([]);
  });

  test("start with a subject", () => {
    const headless = sources.flatMap(({ path, text }) => (text.match(HEADLESS) ?? []).map((it) => `${path}: ${it}`));
    expect(headless.length, headless.join("\n")).toBeLessThanOrEqual(MOST_HEADLESS_COMMENTS);
  });
});

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path));
}

function readPage(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The text with the lines of each comment joined by blanks. */
function joinLines(text: string): string {
  return text.replace(/\n *(?:\*|\/\/) /g, " ");
}

function isHeading(page: string, anchor: string | undefined, heading: string | undefined): boolean {
  const text = readPage(page);
  if (anchor !== undefined) return headingAnchors(text).includes(anchor);
  return heading === undefined || text.includes(`\n## ${heading}\n`);
}
