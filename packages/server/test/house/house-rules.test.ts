import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const SRC = join(ROOT, "packages/server/src");

/** The port of the store: its types and its errors, which everybody who calls it must know. */
const PORT = /^store\/(?:store|ports|errors)\.ts$/;
/** What both engines share: tables, rows, batches, archives, and the SQL that is not the office's alone. */
const SHARED_STORE = /^store\/[a-z-]+\.ts$/;
const DOMAIN = /^domain\//;
const PARTNER = /^partner\//;
const WORKERS = /^workers\//;
const SYSTEM = /^system\//;
const HTTP_CLIENT = /^system\/http-client\.ts$/;
const OFFICE = /^office\//;
const CSV = /^csv\//;
const BUILT = /^built\.ts$/;
const CLI = [
  ...[DOMAIN, SHARED_STORE, OFFICE, WORKERS, PARTNER, SYSTEM, CSV, /^faces\/cli\//, /^faces\/rows\.ts$/],
  ...[/^backup\//, /^config\.ts$/, /^faces\/(?:staff-api|counter)\/app\.ts$/, /^metrics\//],
];

/** Who may import whom: domain <- store <- partner | office | workers <- faces <- main. A file has the first rule that fits. */
const IMPORT_LAW: readonly (readonly [room: RegExp, allowed: readonly RegExp[]])[] = [
  [DOMAIN, [DOMAIN]],
  [PORT, [DOMAIN, PORT, /^store\/engine\.ts$/]],
  [SHARED_STORE, [DOMAIN, SHARED_STORE]],
  [/^store\/sqlite\//, [DOMAIN, SHARED_STORE, /^store\/sqlite\//]],
  [/^store\/postgres\//, [DOMAIN, SHARED_STORE, /^store\/postgres\//]],
  [/^backup\//, [DOMAIN, PORT, /^backup\//, /^store\/(?:archive|engine|tables)\.ts$/]],
  [OFFICE, [DOMAIN, SHARED_STORE, OFFICE, CSV, /^backup\//, /^system\/service-state\.ts$/]],
  [WORKERS, [DOMAIN, PORT, /^store\/(?:due|outbox|sessions-due)\.ts$/, WORKERS]],
  [BUILT, []],
  [
    PARTNER,
    [
      DOMAIN,
      PORT,
      /^store\/(?:account-entries|account-sums|accounts|delivery-log|own-pages|settings)\.ts$/,
      PARTNER,
      SYSTEM,
      BUILT,
    ],
  ],
  [/^metrics\//, [DOMAIN, PORT, /^office\/session\//, PARTNER, WORKERS, SYSTEM, /^metrics\//]],
  [/^targets\//, [DOMAIN, SHARED_STORE, OFFICE, WORKERS, /^partner\/extension\/facts\.ts$/, HTTP_CLIENT, /^targets\//]],
  [CSV, [DOMAIN, OFFICE, CSV]],
  [/^faces\/rows\.ts$/, [OFFICE, CSV]],
  [
    /^faces\/staff-api\//,
    [
      ...[DOMAIN, SHARED_STORE, OFFICE, SYSTEM, CSV, /^faces\/rows\.ts$/, /^faces\/staff-api\//],
      /^partner\/openapi\/components\.ts$/,
    ],
  ],
  [/^faces\/counter\//, [DOMAIN, PORT, SHARED_STORE, OFFICE, PARTNER, /^faces\/counter\//, /^faces\/staff-api\//]],
  [/^faces\/cli\//, CLI],
  [/^config\.ts$/, [DOMAIN, SYSTEM]],
  [SYSTEM, [DOMAIN, PORT, /^office\/staff\/passwords\.ts$/, SYSTEM]],
  [/^settler-main\.ts$/, [/^store\/sqlite\//, /^metrics\//, /^faces\/cli\/processes\.ts$/, SYSTEM]],
  [/^main\.ts$/, [/./]],
];

/** What of the outside each room may use; a room that is not listed may use anything. */
const OUTSIDE_LAW: readonly (readonly [room: RegExp, allowed: readonly string[]])[] = [
  // Of node:net, what computes with addresses. What is a mobile number, and when two are one, is a rule too.
  [DOMAIN, ["node:crypto", "node:net", "node:util", "node:zlib", "libphonenumber-js/min"]],
  [/^backup\//, ["node:crypto", "node:stream", "node:util", "node:zlib"]],
  [OFFICE, ["kysely", "typebox", "typebox/value"]],
  [WORKERS, []],
  [PORT, []],
  [/^store\/migrations\.ts$/, ["node:crypto", "node:fs"]],
  [SHARED_STORE, ["kysely", "node:crypto", "node:fs", "node:util"]],
  [/^metrics\//, ["node:events", "node:fs", "node:http", "node:net", "node:path", "node:perf_hooks"]],
  [/^targets\//, ["@topupd/radius", "node:crypto", "node:dns", "node:http", "node:https", "node:net"]],
];

/** Where a program begins, and what both share: only there may anybody know the time, make randomness or touch the process. */
const ROOTS = ["main.ts", "settler-main.ts", "metrics/process-figures.ts"];

const WORLD =
  /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomBytes\b|\brandomUUID\b|\bgetRandomValues\b|\bTemporal\.Now\b|\bperformance\.now\b|\bhrtime\b|\bmonitorEventLoopDelay\b|\bprocess\.(?!platform)/;

/** Files of the console that may compute: they format, draw, or count places on the screen. All others show answers. */
const CONSOLE_COMPUTES = [
  ...["format.ts", "texts/common.ts", "components/states.tsx"],
  ...["components/charts.tsx", "pages/overview/charts.tsx", "pages/account/one-time-codes.tsx"],
  ...["components/data-table.tsx", "components/list-page.tsx", "components/toasts.tsx", "shell/search.tsx"],
  ...["api/client.ts", "api/hooks.ts", "pages/account/account.tsx"],
];
/** The formatter of the code writes a blank on both sides of an operator. */
const COMPUTING = /\bDate\b|\.reduce(?:Right)?\(| (?:[-+*/]|\*\*)=? (?!as )/;

interface Source {
  readonly path: string;
  readonly text: string;
}

const sources = sourcesIn(SRC);
const FOLDERS = [
  ...readdirSync(join(ROOT, "packages")).map((name) => `packages/${name}/src`),
  "clients/python/topupd_client",
];

describe("the house", () => {
  test("has rooms for all of its files", () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.map(({ path }) => path).filter((path) => ruleFor(path, IMPORT_LAW) === undefined)).toEqual([]);
  });

  test("keeps its import law", () => {
    const breaches = sources.flatMap(({ path, text }) => {
      const allowed = ruleFor(path, IMPORT_LAW) ?? [];
      return targetsOf({ path, text })
        .filter((target) => !allowed.some((room) => room.test(target)))
        .map((target) => `${path} imports ${target}`);
    });
    expect(breaches).toEqual([]);
  });

  test.each(FOLDERS)("%s has an order of files and subfolders in which each imports only earlier ones", (folder) => {
    expect(circlesIn(sourcesIn(join(ROOT, folder)))).toEqual([]);
  });

  test("would notice a circle of types, and one of folders", () => {
    const source = (path: string, imported: string) => ({
      path,
      text: `import type {\n  It,\n} from "${imported}";\n`,
    });
    const types = [
      source("a.ts", "./b.ts"),
      source("b.ts", "./c.ts"),
      source("c.ts", "./a.ts"),
      source("d.ts", "./a.ts"),
    ];
    expect(circlesIn(types)).toEqual(["a.ts imports b.ts", "b.ts imports c.ts", "c.ts imports a.ts"]);
    const folders = [source("faces/cli/a.ts", "../../office/b.ts"), source("office/c.ts", "../faces/api/d.ts")];
    expect(circlesIn(folders)).toEqual(["faces/cli/a.ts imports office/b.ts", "office/c.ts imports faces/api/d.ts"]);
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

  test("knows the clock, randomness and the process where a program begins, and nowhere else", () => {
    const breaches = sources
      .filter(({ path }) => !ROOTS.includes(path))
      .flatMap(({ path, text }) =>
        codeLines(text).flatMap((line, index) => (WORLD.test(line) ? [`${path}:${index + 1}`] : [])),
      );
    expect(breaches).toEqual([]);
  });

  test("asks no time of SQL", () => {
    const folder = join(SRC, "store");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => /\.(ts|sql)$/.test(path));
    const asking =
      /\b(?:strftime|unixepoch|julianday|CURRENT_TIMESTAMP|CURRENT_DATE|CURRENT_TIME|LOCALTIME|LOCALTIMESTAMP|(?:clock_|statement_|transaction_)timestamp|now\(\)|datetime\()/i;
    expect(files.filter((path) => asking.test(readFileSync(join(folder, path), "utf8")))).toEqual([]);
  });

  test("loads for every command what each needs, and leaves servers, stores and CSV to those that use them", () => {
    const [reached, outside] = [new Set(["main.ts"]), new Set<string>()];
    for (const path of reached) {
      const text = sources.find((source) => source.path === path)?.text ?? "";
      for (const [, name = ""] of text.matchAll(/^(?:import|export) (?!type )[^;"]*from "([^"\n]+)"/gm)) {
        if (name.startsWith(".")) reached.add(posix.join(posix.dirname(path), name));
        else outside.add(name.split("/")[0] as string);
      }
    }
    expect(reached.size).toBeGreaterThan(30);
    expect(
      [...outside].filter((name) => /^(?:fastify|@fastify|typebox|pg|pino|@photostructure|@topupd|csv-)/.test(name)),
    ).toEqual([]);
  });

  test("computes no figure in the console", () => {
    const folder = join(ROOT, "packages/console/src");
    const own = sourcesIn(folder).filter(({ path }) => !path.endsWith(".d.ts"));
    const computing = own.filter(isComputing).map(({ path }) => path);
    expect(computing.filter((path) => !CONSOLE_COMPUTES.includes(path))).toEqual([]);
    expect(CONSOLE_COMPUTES.filter((path) => !computing.includes(path))).toEqual([]);
    const planted = [
      "const left = (Date.parse(plan.end) - now) / DAY_MS;",
      "const total = days.reduce((sum, { topUps }) => sum + topUps, 0);",
      "<Stat value={formatCount(account.topUps - account.reversals)} />",
    ].map((text) => ({ path: "pages/customers/customer.tsx", text }));
    expect(planted.filter(isComputing)).toEqual(planted);
    const shown = { path: "", text: 'import * as Radix from "a-b";\n// a - b\nconst t = "1 - 2";\n' };
    expect(isComputing(shown)).toBe(false);
  });
});

function isComputing({ text }: Source): boolean {
  return codeLines(text).some((line) => COMPUTING.test(line.replace(/"[^"]*"/g, '""')));
}

function ruleFor<Rule>(path: string, law: readonly (readonly [RegExp, Rule])[]): Rule | undefined {
  return law.find(([room]) => room.test(path))?.[1];
}

function sourcesIn(folder: string): Source[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(?:tsx?|py)$/.test(path))
    .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(folder, path), "utf8") }));
}

/** The imports that form circles: of files, or of folders that import from each other. */
function circlesIn(all: readonly Source[]): string[] {
  const imports = all.flatMap((source) =>
    targetsOf(source).map((target) => {
      const [from, to] = [source.path.split("/"), target.split("/")];
      // The children of the common folder.
      const depth = from.findIndex((part, at) => part !== to[at]) + 1;
      const [importing, imported] = [from, to].map((parts) => parts.slice(0, depth).join("/"));
      return { importing, imported, words: `${source.path} imports ${target}` };
    }),
  );
  const reaches = (start: string | undefined, end: string | undefined) => {
    const reached = new Set([start]);
    for (const each of reached)
      for (const { importing, imported } of imports) if (importing === each) reached.add(imported);
    return reached.has(end);
  };
  return imports.filter(({ importing, imported }) => reaches(imported, importing)).map(({ words }) => words);
}

/** Paths of the files that a file imports. */
function targetsOf({ path, text }: Source): string[] {
  const ofPython = [...text.matchAll(/^from (\.\w+) import/gm)].map(([, name]) => `./${name?.slice(1)}.py`);
  const names = [...importsOf(text), ...ofPython].filter((name) => name.startsWith("."));
  return names.map((name) => posix.join(posix.dirname(path), name));
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
