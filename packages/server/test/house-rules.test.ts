import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));

/** The port of the store: its types and its errors, which everybody who calls it must know. */
const PORT = [
  "store/store.ts",
  "store/access.ts",
  "store/search.ts",
  "store/corrections.ts",
  "store/history.ts",
  "store/audit-trail.ts",
  "store/retention.ts",
  "store/errors.ts",
];

/** Who may import whom, by the beginning of the path. What is not listed may import nothing. */
const IMPORT_LAW: readonly (readonly [room: string, allowed: readonly string[]])[] = [
  ["domain/", ["domain/"]],
  ["backup/", ["backup/", "store/common/archive.ts", "domain/", ...PORT]],
  ["operations/", ["operations/", "backup/", "domain/", ...PORT]],
  ["store/common/", ["store/common/", "domain/", ...PORT]],
  ["store/sqlite/", ["store/sqlite/", "store/common/", "store/batcher.ts", "domain/", ...PORT]],
  ["store/postgres/", ["store/postgres/", "store/common/", "store/batcher.ts", "domain/", ...PORT]],
  ["store/store.ts", ["domain/", ...PORT]],
  ["store/access.ts", ["domain/"]],
  ["store/search.ts", ["domain/"]],
  ["store/corrections.ts", ["domain/"]],
  ["store/history.ts", ["domain/"]],
  ["store/audit-trail.ts", ["domain/"]],
  ["store/retention.ts", ["domain/"]],
  ["store/errors.ts", []],
  ["store/batcher.ts", []],
  ["http/", ["http/", "operations/", "domain/", ...PORT]],
  [
    "metrics/",
    ["metrics/", "operations/observer.ts", "operations/ports.ts", "store/common/settling.ts", "domain/", ...PORT],
  ],
  [
    "cli/",
    [
      "cli/",
      "http/app.ts",
      "metrics/metrics.ts",
      "config.ts",
      "database-address.ts",
      "backup/",
      "operations/",
      "domain/",
      ...PORT,
    ],
  ],
  ["config.ts", ["domain/", "log.ts", "database-address.ts"]],
  ["database-address.ts", []],
  ["log.ts", []],
  ["log-lines.ts", []],
  ["whole-file.ts", []],
  ["random-pool.ts", []],
  ["open-files.ts", ["metrics/process-figures.ts"]],
  ["scratch-file.ts", ["operations/scratch.ts"]],
  ["settling-main.ts", ["store/sqlite/"]],
  ["main.ts", [""]],
];

/** What of the outside each room may use; a room that is not listed may use anything. */
const OUTSIDE_LAW: readonly (readonly [room: string, allowed: readonly string[]])[] = [
  // Of node:net, what computes with addresses. What is a mobile number, and when two are one, is a rule too.
  ["domain/", ["node:crypto", "node:net", "node:zlib", "temporal-polyfill", "libphonenumber-js/mobile"]],
  ["backup/", ["node:crypto", "node:stream", "node:zlib"]],
  ["operations/", []],
  ["store/store.ts", []],
  ["store/access.ts", []],
  ["store/search.ts", []],
  ["store/corrections.ts", []],
  ["store/history.ts", []],
  ["store/audit-trail.ts", []],
  ["store/retention.ts", []],
  ["store/errors.ts", []],
  ["store/batcher.ts", []],
  ["metrics/", ["node:events", "node:http", "node:net"]],
];

/** Where a program begins, or a thread: only there may anybody know the time, make randomness or touch the process. */
const ROOTS = ["main.ts", "settling-main.ts"];

const WORLD =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomBytes\b|\brandomUUID\b|\bgetRandomValues\b|\bTemporal\.Now\b|\bperformance\.now\b|\bhrtime\b|\bmonitorEventLoopDelay\b|\bprocess\.(?!platform)/;

interface Source {
  readonly path: string;
  readonly text: string;
}

const sources: Source[] = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(SRC, path), "utf8") }));

describe("the house", () => {
  test("has rooms for all of its files", () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.filter(({ path }) => ruleFor(path, IMPORT_LAW) === undefined)).toEqual([]);
  });

  test("keeps its import law", () => {
    const breaches = sources.flatMap(({ path, text }) => {
      const allowed = ruleFor(path, IMPORT_LAW) ?? [];
      return importsOf(text)
        .filter((name) => name.startsWith("."))
        .map((name) => relative(SRC, resolve(SRC, dirname(path), name)).replaceAll("\\", "/"))
        .filter((target) => !allowed.some((beginning) => target.startsWith(beginning)))
        .map((target) => `${path} imports ${target}`);
    });
    expect(breaches).toEqual([]);
  });

  test("lets only some rooms reach for the outside", () => {
    const breaches = sources.flatMap(({ path, text }) => {
      const allowed = ruleFor(path, OUTSIDE_LAW);
      if (allowed === undefined) return [];
      const outside = importsOf(text).filter((name) => !name.startsWith("."));
      return outside.filter((name) => !allowed.includes(name)).map((name) => `${path} imports ${name}`);
    });
    expect(breaches).toEqual([]);
  });

  test("takes of Node's network only what computes, where the rules are", () => {
    const taken = sources
      .filter(({ path }) => path.startsWith("domain/"))
      .flatMap(({ text }) => [...text.matchAll(/^import (.*) from "node:net";$/gm)].map(([, names]) => names));
    expect(new Set(taken)).toEqual(new Set(["{ BlockList }", "{ isIP, SocketAddress }"]));
  });

  test("knows the clock, randomness and the process where a program begins, and nowhere else", () => {
    const breaches = sources
      .filter(({ path }) => !ROOTS.includes(path))
      .flatMap(({ path, text }) =>
        codeLines(text).flatMap((line, index) => (WORLD.test(line) ? [`${path}:${index + 1}`] : [])),
      );
    expect(breaches).toEqual([]);
  });

  test("asks no time of SQL, but how long a transaction has taken", () => {
    const folder = join(SRC, "store");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => /\.(ts|sql)$/.test(path));
    const asking =
      /\b(?:strftime|unixepoch|julianday|CURRENT_TIMESTAMP|CURRENT_DATE|CURRENT_TIME|LOCALTIME|LOCALTIMESTAMP|(?:clock_|statement_|transaction_)timestamp|now\(\)|datetime\()/i;
    const found = files.filter((path) => asking.test(readFileSync(join(folder, path), "utf8")));
    expect(found.map((path) => path.replaceAll("\\", "/"))).toEqual([
      "postgres/session/commit-within.ts",
      "postgres/session/open-writes.ts",
    ]);
  });

  test("loads for every command what each needs, and leaves servers, stores and CSV to those that use them", () => {
    const [reached, outside] = [new Set(["main.ts"]), new Set<string>()];
    for (const path of reached) {
      const text = sources.find((source) => source.path === path)?.text ?? "";
      for (const [, name = ""] of text.matchAll(/^(?:import|export) (?!type )[^;"]*from "([^"\n]+)"/gm)) {
        if (name.startsWith(".")) reached.add(relative(SRC, resolve(SRC, dirname(path), name)).replaceAll("\\", "/"));
        else outside.add(name.split("/")[0] as string);
      }
    }
    expect(reached.size).toBeGreaterThan(100);
    expect([...outside].filter((name) => /^(?:fastify|@fastify|typebox|pg|@photostructure|csv-)/.test(name))).toEqual(
      [],
    );
  });

  test("has no file of over 300 lines", () => {
    expect(sources.filter(({ text }) => text.split("\n").length > 301).map(({ path }) => path)).toEqual([]);
  });
});

function ruleFor(path: string, law: readonly (readonly [string, readonly string[]])[]): readonly string[] | undefined {
  return law.find(([room]) => path.startsWith(room))?.[1];
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:^import|^export [^;"]* from|^} from|^import [^;"]* from|import\()\s*"([^"\n]+)"/gm)].map(
    (match) => match[1] as string,
  );
}

/** Lines with comments blanked: a comment may speak of what code may not do. */
function codeLines(text: string): string[] {
  const blank = (comment: string) => comment.replace(/[^\n]/g, " ");
  return text
    .replace(/\/\*[\s\S]*?\*\//g, blank)
    .replace(/\/\/.*$/gm, blank)
    .split("\n");
}
