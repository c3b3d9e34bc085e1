import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** What must be there before tests run. */
export interface Needs {
  /** Programs of tools/. */
  readonly tools: boolean;
  /** Workspaces to build. */
  readonly built: readonly string[];
  /** A server of PostgreSQL. */
  readonly postgres: boolean;
}

const TOOLS = /\btool\(/;
const BUILT: Readonly<Record<string, RegExp>> = {
  topupd: /\bdist\b|\bbin\//,
  "@topupd/client": /"@topupd\/client|packages\/client\/dist/,
  "@topupd/conformance": /"@topupd\/conformance|packages\/conformance\/(?:bin|dist)/,
};
const POSTGRES = /\binject\("postgres/;

/** What files of tests need, as the texts of all files that they import show. */
export function needsOf(testFiles: readonly string[]): Needs {
  const texts = [...reachedFrom(testFiles).values()];
  const isIn = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  const postgres = isIn(POSTGRES);
  const built = Object.keys(BUILT).filter((name) => isIn(BUILT[name] as RegExp));
  return { tools: postgres || isIn(TOOLS), built, postgres };
}

/** Texts of the files and of all that they import by a path, by their own paths. */
function reachedFrom(files: readonly string[]): ReadonlyMap<string, string> {
  const reached = new Map<string, string>();
  const waiting = [...files];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path) || !existsSync(path)) continue;
    const text = readFileSync(path, "utf8");
    reached.set(path, text);
    for (const [, imported = ""] of text.matchAll(/\b(?:from|import)\b[ (]*"(\.[^"]+)"/g))
      waiting.push(resolve(dirname(path), imported));
  }
  return reached;
}
