import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { SETTING_NAMES, SETTINGS } from "../../src/config.ts";
import { TRIAL_TOKEN_VALID_MS } from "../../src/domain/access-token.ts";
import { CHECKOUT_GRACE_MS, CHECKOUT_VALID_MS } from "../../src/domain/checkout.ts";
import { IDENTIFIER_MAX_LENGTH } from "../../src/domain/fields.ts";
import { MONEY_DIGITS } from "../../src/domain/money.ts";
import { FAULTS } from "../../src/domain/practice.ts";
import { BODY_MAX_BYTES, FAILURES, type FailureReason, renderFailure } from "../../src/partner/failures.ts";
import { ANSWERED_WITHIN_MS, KEEP_ALIVE_TIMEOUT_MS, REQUEST_TIMEOUT_MS } from "../../src/partner/pipeline.ts";
import { LOG_FIELDS } from "../../src/system/logger.ts";
import { allCommands } from "../support/command-tree.ts";
import {
  type Fence,
  headingAnchors,
  outsideFences,
  quoted,
  readFences,
  tableRows,
  unquote,
} from "../support/markdown.ts";
import { startTestService, temporaryFolder } from "../support/service.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

interface Page {
  /** From the repository's root. */
  readonly path: string;
  readonly text: string;
}

const pages: readonly Page[] = [
  ...readdirSync(ROOT),
  ...[
    "docs",
    "bench",
    "packages/client",
    "packages/conformance",
    "packages/console",
    "packages/server/test",
    "contract/collections",
    "clients/php",
    "clients/python",
  ].flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`)),
]
  .filter((path) => path.endsWith(".md"))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

test("the fields of the log are those that are listed in docs/settings.md, and no others", () => {
  const [, section = ""] = page("docs/settings.md").text.split("## The log\n");
  const [table = ""] = section.split("\n## ");
  const documented = tableRows(table).flatMap(([names = ""]) => quoted(names));
  expect(documented.toSorted()).toEqual(["err", "level", "msg", "time", ...LOG_FIELDS].toSorted());
});

test("docs/alerts.md names causes and log lines as the code writes them", () => {
  const [, steps = ""] = page("docs/alerts.md").text.split("## First steps\n");
  const causes = tableRows(steps.split("\n## ")[0] ?? "").flatMap(([cause = ""]) => quoted(cause));
  const lines = [...page("docs/alerts.md").text.matchAll(/log line `([^`]+)`/g)].map(([, line = ""]) => line);
  const folder = join(ROOT, "packages/server/src");
  const code = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(folder, path), "utf8"))
    .join("\n");
  // The code computes the numbers.
  const words = [...causes.slice(1), ...lines].map((text) => text.replace(/^\.\.\. | \d.*$/g, ""));
  expect(words.length).toBeGreaterThan(12);
  expect(words.filter((text) => !code.includes(text))).toEqual([]);
});

test("the partner's guide lists every fault of the practice customer", () => {
  const [, section = ""] = page("docs/partner-guide.md").text.split("## Practise faults\n");
  const rows = tableRows(section.split("\n## ")[0] ?? "").filter(([name = ""]) => name.startsWith("`"));
  expect(rows).toEqual(FAULTS.map(({ name, sent, recorded, next }) => [`\`${name}\``, sent, recorded, next]));
});

describe("docs/failures.md", () => {
  const rows = tableRows(page("docs/failures.md").text).filter(([code = ""]) => /^`400[a-z]{2}\d{3}`$/.test(code));

  test("gives every failure's code, status, reason and retry as the service does, and no other failure", () => {
    const documented = rows.map(([code = "", status, reason = "", retry = ""]) => ({
      code: unquote(code),
      status: Number(status),
      reason: unquote(reason),
      retries: quoted(retry),
    }));
    const reasons = Object.keys(FAILURES) as FailureReason[];
    const served = reasons.map((reason) => {
      const { code, status } = FAILURES[reason];
      return { code, status, reason, retries: retriesOf(reason) };
    });
    expect(documented).toEqual(served);
  });

  test("explains every failure and every retry", () => {
    expect(rows.filter((row) => row.length !== 5 || row.some((cell) => cell === ""))).toEqual([]);
    const explained = tableRows(page("docs/failures.md").text).map(([first = ""]) => unquote(first));
    const retries = (Object.keys(FAILURES) as FailureReason[]).flatMap(retriesOf);
    expect(retries.filter((retry) => !explained.includes(retry))).toEqual([]);
  });
});

test("docs/interface.md gives the limits as the code has them", () => {
  const [, section = ""] = page("docs/interface.md").text.split("## Limits\n");
  const documented = new Map(
    tableRows(section.split("\n## ")[0] ?? "").map(([limit = "", value = ""]) => [limit, value]),
  );
  const number = (limit: string) => Number(/\d[\d,]*/.exec(documented.get(limit) ?? "")?.[0].replace(",", ""));
  expect({
    checkoutMs: number("Validity of a checkoutId") * 60_000,
    neverMs: number("`never_topped_up`") * 60_000,
    trialMs: number("Validity of a trial token") * 86_400_000,
    identifier: documented.get("Identifier"),
    body: number("Body"),
    amount: documented.get("`amt`"),
    requestMs: number("Time for a request to arrive") * 1000,
    answerMs: number("Time for an answer") * 1000,
    idleMs: number("Idle connection") * 1000,
  }).toEqual({
    checkoutMs: CHECKOUT_VALID_MS,
    neverMs: CHECKOUT_VALID_MS + CHECKOUT_GRACE_MS,
    trialMs: TRIAL_TOKEN_VALID_MS,
    identifier: `1 to ${IDENTIFIER_MAX_LENGTH} characters, not only blanks`,
    body: BODY_MAX_BYTES,
    amount: `less than 10^${MONEY_DIGITS} minor units`,
    requestMs: REQUEST_TIMEOUT_MS,
    answerMs: ANSWERED_WITHIN_MS,
    idleMs: KEEP_ALIVE_TIMEOUT_MS,
  });
});

describe("the settings in docs/settings.md", () => {
  test("are those of the service, with variable and default", () => {
    const documented = tableRows(page("docs/settings.md").text)
      .filter(([variable = ""]) => variable.startsWith("`TOPUPD_"))
      .map(([variable = "", fallback = "", meaning = ""]) => ({
        variable: unquote(variable),
        fallback: fallback.startsWith("none: ") ? undefined : unquote(fallback),
        isExplained: meaning !== "",
      }));
    const served = SETTING_NAMES.map((name) => {
      const { env, fallback } = SETTINGS[name];
      return { variable: env, fallback, isExplained: true };
    });
    expect(documented).toEqual(served);
  });

  test("are the only variables that any page names", () => {
    const known = SETTING_NAMES.map((name) => SETTINGS[name].env);
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\bTOPUPD_[A-Z0-9_]*[A-Z0-9]/g)].map(([name]) => ({ path, name })),
    );
    expect(named.filter(({ name }) => !known.includes(name))).toEqual([]);
  });
});

const knownCommands = await allCommands();

describe("the command lines in the documentation", () => {
  test("name commands and flags that exist", () => {
    const commands = readCommands();
    const lines = pages.flatMap(({ path, text }) => commandLines(text).map((words) => ({ path, words })));
    expect(lines.length).toBeGreaterThan(30);
    expect(lines.filter(({ words }) => !isKnown(words, commands))).toEqual([]);
  });
});

test("the alias of docs/setup.md works from a folder with a blank in its name", () => {
  const alias = /^alias topupd=.*$/m.exec(page("docs/setup.md").text)?.[0] ?? "";
  const folder = join(temporaryFolder(), "top up");
  const bin = join(folder, "packages/server/bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "topupd.js"), "console.log(JSON.stringify(process.argv.slice(2)))");
  const script = `${alias}\ntopupd partner add "Blue Wallet"`;
  const said = execFileSync("sh", ["-c", script], { cwd: folder, encoding: "utf8" });
  expect(JSON.parse(said)).toEqual(["partner", "add", "Blue Wallet"]);
});

describe("the links in the documentation", () => {
  test("lead to files and headings that exist", () => {
    const links = pages.flatMap(({ path, text }) =>
      [...outsideFences(text).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => ({ path, link: match[1] as string })),
    );
    expect(links.length).toBeGreaterThan(40);
    expect(links.filter(({ path, link }) => !isGood(path, link))).toEqual([]);
  });

  test("reach every page from README.md", () => {
    const reached = new Set<string>();
    const follow = (path: string) => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const [, link = ""] of outsideFences(page(path).text).matchAll(/\]\(([^)\s#:]+\.md)(?:#[^)\s]*)?\)/g))
        follow(relative(ROOT, resolve(ROOT, dirname(path), link)).replaceAll("\\", "/"));
    };
    follow("README.md");
    expect(pages.filter(({ path }) => !reached.has(path)).map(({ path }) => path)).toEqual([]);
  });
});

describe("packages/console/README.md", () => {
  const folder = join(ROOT, "packages/console");
  const files = readdirSync(join(folder, "src"), { recursive: true, encoding: "utf8" }).map((path) => `src/${path}`);
  const source = files
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => readFileSync(join(folder, path), "utf8"))
    .join("\n");
  const { text } = page("packages/console/README.md");
  const named = quoted(outsideFences(text));

  test("names files that exist, and every file of components", () => {
    const paths = named.filter((each) => /^[\w.-]+(\/[\w.-]+)*(\/|\.(ts|tsx|css))$/.test(each));
    expect(paths.length).toBeGreaterThan(20);
    expect(paths.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
    const components = files.filter((path) => path.startsWith("src/components/"));
    expect(components.filter((path) => !paths.includes(path))).toEqual([]);
  });

  test("names components, hooks and functions that are exported, and properties that are in the source", () => {
    const examples = readFences(text).flatMap(({ lines }) => lines);
    const used = [...named, ...examples].flatMap(
      (each) => each.match(/\buse[A-Z]\w*|(?<=<)[A-Z]\w*|^[A-Z]\w*$|^\w+(?=\()/g) ?? [],
    );
    const declared = /^export (?:default )?(?:async )?(?:function|const|class|interface|type) (\w+)/gm;
    const exported = [...source.matchAll(declared)].map(([, name]) => name);
    expect(used.length).toBeGreaterThan(70);
    expect(used.filter((name) => !exported.includes(name))).toEqual([]);
    const words = named.filter((each) => /^[A-Za-z]\w*$/.test(each));
    expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(source))).toEqual([]);
  });
});

describe("the examples in the documentation", () => {
  test("are JSON where they say so", () => {
    const examples = fences("json");
    expect(examples.length).toBeGreaterThan(3);
    for (const { lines } of examples) expect(() => JSON.parse(lines.join("\n")), lines.join("\n")).not.toThrow();
  });

  test("can be imported where they are files to import", async () => {
    const [catalogue, customers, ...others] = fences("ndjson").map(({ lines }) =>
      lines.map((line) => JSON.parse(line) as object),
    );
    expect(others).toEqual([]);
    const service = await startTestService({ bare: true, timeZone: "Asia/Kathmandu" });
    expect(await service.importCatalogue(catalogue ?? [])).toBeGreaterThan(3);
    expect((await service.importCustomers(customers ?? [])).accepted).toBeGreaterThan(0);
  });

  test("name the trial customers by codes that find them", async () => {
    const service = await startTestService();
    const rows = tableRows(page("docs/partner-guide.md").text).filter(([cuid = ""]) => /^`100000\d`$/.test(cuid));
    expect(rows.length).toBe(5);
    for (const row of rows) {
      const [cuid, ...codes] = quoted(row.join(" "));
      expect(codes.length).toBeGreaterThan(0);
      for (const code of codes) {
        const { json } = await service.call("get-customer-information", { code });
        expect(json.body.customer?.cuid, code).toBe(cuid);
      }
    }
  });

  test("hold no path of anybody's own machine", () => {
    const own = /(?:^|[\s"'`(=:])(?:\/(?:work|home|root|tmp|Users|mnt|private)\b|[A-Z]:\\)[^\s]*/gm;
    expect(pages.flatMap(({ path, text }) => (text.match(own) ?? []).map((found) => `${path}: ${found}`))).toEqual([]);
  });
});

function page(path: string): Page {
  const found = pages.find((candidate) => candidate.path === path);
  if (found === undefined) throw new Error(`there is no ${path}`);
  return found;
}

/** What the service tells a caller to do next: for a top-up it may be something else, and comes second. */
function retriesOf(reason: FailureReason): string[] {
  const of = (isTopUp: boolean) => JSON.parse(renderFailure(reason, "", { isTopUp }).body).body.retry as string;
  return [...new Set([of(false), of(true)])];
}

function fences(language: string): Fence[] {
  return pages.flatMap(({ text }) => readFences(text)).filter((fence) => fence.language === language);
}

/** The words after `topupd` of every command line: those for the shell, those in unit files, and those in a sentence. */
function commandLines(text: string): string[][] {
  const shell = readFences(text)
    .filter(({ language }) => language === "sh" || language === "ini")
    .flatMap(({ lines }) => lines)
    .flatMap((line) => /(?:^|=\S*\s)(?:\S*\/)?topupd(?:\.js)? (.*)$/.exec(line)?.[1] ?? []);
  const inline = quoted(outsideFences(text)).flatMap((code) => /^topupd (.*)$/.exec(code)?.[1] ?? []);
  return [...shell, ...inline].map((line) => line.split(/\s+/).filter((word) => word !== ""));
}

interface ListedCommand {
  readonly isGroup: boolean;
  readonly flags: readonly (string | undefined)[];
}

/** Every command with its flags, as the program has them. */
function readCommands(): Map<string, ListedCommand> {
  return new Map(
    knownCommands.map(({ words, command, isGroup }) => {
      const flags = ["--help", ...command.options.map(({ long }) => long)];
      return [words.join(" "), { isGroup, flags }];
    }),
  );
}

function isKnown(words: readonly string[], commands: ReadonlyMap<string, ListedCommand>): boolean {
  const depth = [3, 2, 1, 0].find((count) => count <= words.length && commands.has(words.slice(0, count).join(" ")));
  const command = commands.get(words.slice(0, depth).join(" "));
  if (command === undefined) return false;
  const rest = words.slice(depth);
  if (command.isGroup && rest.some((word) => !word.startsWith("-"))) return false;
  return rest.filter((word) => word.startsWith("--")).every((word) => command.flags.includes(word.split("=")[0] ?? ""));
}

function isGood(path: string, link: string): boolean {
  if (/^https?:/.test(link)) return URL.canParse(link);
  const [file = "", anchor] = link.split("#");
  const target = file === "" ? join(ROOT, path) : resolve(ROOT, dirname(path), file);
  if (relative(ROOT, target).startsWith("..") || !existsSync(target)) return false;
  return anchor === undefined || headingAnchors(readFileSync(target, "utf8")).includes(anchor);
}
