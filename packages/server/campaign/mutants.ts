import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { needsOf } from "../test/support/needs.ts";
import type { Mutant } from "./mutants/mutant.ts";
import { MUTANTS } from "./mutants/table.ts";

/*
 * Faults are planted in copies of the source, one at a time in each. What must find a fault, a file of tests or a campaign,
 * is run in the copy, and must fail. A fault that it does not find, or whose text is not there exactly once, is a fall.
 */

interface MutantRun {
  /** Folder of the copies. */
  readonly cwd: string;
  readonly seed: number;
  /** Part of the faults, files or finders to plant; undefined: all. */
  readonly only?: string | undefined;
  /** Folder that keeps what was found, so that an interrupted run continues; undefined: nothing is kept. */
  readonly folder?: string | undefined;
}

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const LONGEST_MS = 300_000;
/** Copies in which faults are planted at the same time. Most of what is run waits for something. */
const LANES = 2;

/**
 * Plants each mutant in a copy of the source, and runs what must find it there, first without a fault.
 * @throws Error that names the mutants that survived.
 */
export async function mutants({ cwd, seed, only, folder }: MutantRun): Promise<string> {
  const chosen = MUTANTS.filter((mutant) => only === undefined || JSON.stringify(mutant).includes(only));
  const kept = new KeptFindings(folder);
  const survivors: string[] = [];
  const clean = new Map<string, Promise<string | undefined>>();
  const waiting = [...chosen];
  const work = async (copy: string) => {
    copySource(copy);
    /** Workspaces that were built with a fault. */
    const faulty = new Set<string>();
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      if (kept.has(mutant)) continue;
      const finder = finderOf(mutant);
      const plain = clean.get(finder) ?? findsNothing(copy, mutant, seed, faulty);
      clean.set(finder, plain);
      const began = performance.now();
      const problem = (await plain) ?? (await plant(copy, mutant, seed));
      faulty.add(workspaceOf(mutant.file));
      const seconds = Math.round((performance.now() - began) / 1_000);
      const verdict = problem === undefined ? "found" : `SURVIVED, since ${problem}`;
      process.stdout.write(`${verdict}: ${mutant.fault} (${finder}, ${seconds} s)\n`);
      if (problem === undefined) kept.add(mutant, seconds);
      else survivors.push(`${mutant.fault}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => work(join(cwd, `copy-${lane}`))));
  if (survivors.length > 0) throw new Error(`${survivors.length} mutants survived:\n${survivors.join("\n")}`);
  return `${chosen.length} mutants planted, ${chosen.length} found`;
}

/** The campaign or the tests that must find a mutant. */
function finderOf(mutant: Mutant): string {
  if ("campaign" in mutant) return mutant.campaign;
  return mutant.title === undefined ? mutant.test : `${mutant.test} "${mutant.title}"`;
}

/** Runs a finder without a fault: one that fails then would find everything. @returns its problem. */
async function findsNothing(
  copy: string,
  mutant: Mutant,
  seed: number,
  faulty: Set<string>,
): Promise<string | undefined> {
  for (const workspace of faulty) {
    if (workspace === SERVER && !needsBuild(mutant, copy)) continue;
    await run(copy, buildOf(workspace));
    faulty.delete(workspace);
  }
  const { outcome, said } = await run(copy, wordsOf(mutant, seed));
  if (outcome === "passed") return undefined;
  return `${finderOf(mutant)} ${outcome} without a fault: ${said}`;
}

/** Plants a mutant, and runs its finder. @returns why it was not found; undefined if it was. */
async function plant(copy: string, mutant: Mutant, seed: number): Promise<string | undefined> {
  const { file, from, to } = mutant;
  const path = join(copy, file);
  const source = readFileSync(path, "utf8");
  if (source.split(from).length !== 2) return `its text is not in ${file} once`;
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  try {
    const built = needsBuild(mutant, copy) ? await run(copy, buildOf(workspaceOf(file))) : undefined;
    if (built !== undefined && built.outcome !== "passed") return `it does not build: ${built.said}`;
    const { outcome } = await run(copy, wordsOf(mutant, seed));
    return outcome === "failed" ? undefined : `${finderOf(mutant)} ${outcome}, and does not find it`;
  } finally {
    writeFileSync(path, source);
  }
}

function wordsOf(mutant: Mutant, seed: number): string[] {
  if ("campaign" in mutant)
    return ["tsx", "packages/server/campaign/main.ts", "--seed", String(seed), ...mutant.campaign.split(" ")];
  const { test, title } = mutant;
  const titled = title === undefined ? [] : ["-t", title.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")];
  return ["vitest", "run", test, ...titled];
}

const SERVER = "packages/server";
/** Packages with a build of their own. The others are built into the server. */
const BUILT_APART = ["client", "conformance", "console"];

/** Tests build the server themselves if they reach it, and some campaigns run its source. */
function needsBuild(mutant: Mutant, copy: string): boolean {
  if (workspaceOf(mutant.file) !== SERVER) return true;
  if (!("campaign" in mutant)) return false;
  const [name = ""] = mutant.campaign.split(" ");
  const file = join(copy, "packages", "server", "campaign", `${name}.ts`);
  return !existsSync(file) || needsOf([file]).built.length > 0;
}

/** The workspace into whose build a file goes. */
function workspaceOf(file: string): string {
  const [, name] = /^packages\/(\w+)\//.exec(file) ?? [];
  return name !== undefined && BUILT_APART.includes(name) ? `packages/${name}` : SERVER;
}

/** The command that builds what programs and browsers run of a workspace. */
function buildOf(workspace: string): string[] {
  return ["npm", "run", "--silent", "build", "--workspace", workspace];
}

/** Folders that are installed, and not copied. */
const INSTALLED: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/** Copies the source with what is built of it. Installed packages are linked, and packages of the workspace to the copy. */
function copySource(copy: string): void {
  const filter = (path: string) => !INSTALLED.has(basename(path));
  cpSync(ROOT, copy, { recursive: true, preserveTimestamps: true, filter });
  symlinkSync(join(ROOT, "tools", "node_modules"), join(copy, "tools", "node_modules"));
  linkInstalled("node_modules", copy);
  for (const name of readdirSync(join(ROOT, "packages"))) {
    const folder = join("packages", name, "node_modules");
    if (existsSync(join(ROOT, folder))) linkInstalled(folder, copy);
  }
}

function linkInstalled(folder: string, copy: string): void {
  mkdirSync(join(copy, folder), { recursive: true });
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith("@")) linkInstalled(path, copy);
    // The link of a package of the workspace is relative, so that a copy of it leads into the copy.
    else symlinkSync(entry.isSymbolicLink() ? readlinkSync(join(ROOT, path)) : join(ROOT, path), join(copy, path));
  }
}

interface Ended {
  /** `broke`: it ended without a verdict, as tests that cannot be read do. */
  readonly outcome: "passed" | "failed" | "broke" | "took too long";
  /** The first words of its error. */
  readonly said: string;
}

/** Runs a program of the copy. Tests fail only if some of them ran and failed. */
async function run(cwd: string, [program = "", ...words]: readonly string[]): Promise<Ended> {
  const path = [join(cwd, "node_modules", ".bin"), join(cwd, "tools", "node_modules", ".bin"), process.env["PATH"]];
  const env = { ...process.env, PATH: path.join(delimiter), ...(program === "vitest" && { TEST_FILES: words[1] }) };
  const limit = { timeout: LONGEST_MS, killSignal: "SIGKILL" } as const;
  const child = spawn(program, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"], ...limit });
  const [[code, signal], out, errors] = await Promise.all([
    once(child, "close"),
    text(child.stdout),
    text(child.stderr),
  ]);
  const said =
    /^\w*Error: (.*(?:\n.*)?)/m.exec(`${errors}\n${out}`)?.[1]?.replace("\n", " ").slice(0, 200) ?? out.slice(-200);
  if (signal === "SIGKILL") return { outcome: "took too long", said };
  const verdict = /^(\d+) passed, (\d+) failed/m.exec(out);
  if (program !== "vitest" || verdict === null) return { outcome: code === 0 ? "passed" : failedOf(program), said };
  const [passed, failed] = [Number(verdict[1]), Number(verdict[2])];
  if (passed + failed === 0) return { outcome: "broke", said: "no test has this title" };
  return { outcome: failed > 0 ? "failed" : "passed", said };
}

function failedOf(program: string): "failed" | "broke" {
  return program === "vitest" ? "broke" : "failed";
}

/** What was found, in a file of a folder. A finding counts until its row, the file of the fault or the tests change. */
class KeptFindings {
  readonly #path: string | undefined;
  readonly #names: ReadonlySet<string>;

  constructor(folder: string | undefined) {
    this.#path = folder === undefined ? undefined : join(folder, "found.txt");
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
    const lines = this.#path !== undefined && existsSync(this.#path) ? readFileSync(this.#path, "utf8") : "";
    this.#names = new Set(lines.split("\n").map((line) => line.slice(0, line.indexOf(" "))));
  }

  has(mutant: Mutant): boolean {
    return this.#names.has(nameOf(mutant));
  }

  add(mutant: Mutant, seconds: number): void {
    if (this.#path !== undefined)
      appendFileSync(this.#path, `${nameOf(mutant)} ${mutant.fault} (${finderOf(mutant)}, ${seconds} s)\n`);
  }
}

function nameOf(mutant: Mutant): string {
  const files = "test" in mutant ? [mutant.file, mutant.test] : [mutant.file];
  const hash = createHash("sha256").update(JSON.stringify(mutant));
  for (const file of files) hash.update(readFileSync(join(ROOT, file)));
  return hash.digest("hex");
}
