import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { temporaryFolder } from "../support/service.ts";
import { tool } from "../support/tools.ts";

/*
 * What would be published. The packages are those that the build has just made.
 */

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const ATTW = tool("@arethetypeswrong/cli/dist/index.js");
const TSC = join(ROOT, "node_modules/.bin/tsc");
const PUBLINT = pathToFileURL(tool("publint/src/index-node.js")).href;

const manifest = (name: string) => JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8"));
const names = readdirSync(join(ROOT, "packages")).filter((name) => manifest(name).private !== true);
const libraries = names.filter((name) => manifest(name).exports["."] !== undefined);
const execute = promisify(execFile);

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** @param destination of the tarball; undefined: none is written. */
async function pack(name: string, destination?: string): Promise<Packed> {
  const where = destination === undefined ? ["--dry-run"] : ["--pack-destination", destination];
  const { stdout } = await execute("npm", ["pack", "--json", "--ignore-scripts", ...where], {
    cwd: join(ROOT, "packages", name),
  });
  const told: Packed[] | Readonly<Record<string, Packed>> = JSON.parse(stdout);
  return Object.values(told)[0] as Packed;
}

/**
 * What packages are built from, in an empty folder: nothing is installed there, and only the console is built, which
 * takes longest.
 */
function cloneSources(): string {
  const clone = temporaryFolder();
  const copy = (path: string, without: RegExp) =>
    cpSync(join(ROOT, path), join(clone, path), { recursive: true, filter: (each) => !without.test(basename(each)) });
  for (const path of ["package.json", ".npmrc", "tsconfig.base.json", "scripts", "docs", "packages"])
    copy(path, /^(?:node_modules|dist|dist-counter)$/);
  // After its sources: it must not be older.
  for (const path of ["packages/console/dist", "packages/console/dist-counter"]) copy(path, /^$/);
  return clone;
}

/**
 * Puts a package in an empty folder, with what it depends on: links to the workspace's.
 * @param tarball a file of the package; undefined: it is packed now.
 * @returns the folder.
 */
async function install(name: string, tarball?: string): Promise<string> {
  const folder = temporaryFolder();
  const modules = join(folder, "node_modules");
  const file = tarball ?? (await pack(name, folder)).filename;
  const own = manifest(name);
  mkdirSync(join(modules, own.name), { recursive: true });
  await execute("tar", ["-xzf", file, "--strip-components=1", "-C", join(modules, own.name)], { cwd: folder });
  for (const dependency of Object.keys(own.dependencies ?? {})) {
    const places = [join(ROOT, "packages", name, "node_modules"), join(ROOT, "node_modules")];
    const place = places.find((candidate) => existsSync(join(candidate, dependency)));
    mkdirSync(dirname(join(modules, dependency)), { recursive: true });
    symlinkSync(join(place as string, dependency), join(modules, dependency));
  }
  return folder;
}

describe.each(names)("packages/%s", (name) => {
  const folder = join(ROOT, "packages", name);

  test("is published without a warning", async () => {
    const { publint } = await import(PUBLINT);
    // Other tests read what is built meanwhile.
    vi.stubEnv("npm_config_ignore_scripts", "true");
    const { messages } = await publint({ pkgDir: folder, strict: true, pack: "npm" });
    vi.unstubAllEnvs();
    expect(messages).toEqual([]);
  });

  test("packs what is needed to run it, and nothing else", async () => {
    const paths = (await pack(name)).files.map(({ path }) => path);
    const known =
      /^(?:package\.json|README\.md|LICENSE|bin\/\w+\.js|dist\/.+\.(?:js|d\.ts|sql)|dist\/pages\/[a-z-]+\.html|dist\/licenses\.md|dist\/(?:console|counter)\/.+)$/;
    expect(paths.filter((path) => !known.test(path))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(["package.json", "README.md", "LICENSE"]));
    expect(paths.filter((path) => path.startsWith("dist/")).length).toBeGreaterThan(5);
    for (const path of ["dist/console/index.html", "dist/pages/partner-guide.html"])
      expect(paths.includes(path)).toBe(name === "server");
  });

  test("has the licence, the version and the oldest Node of the others", () => {
    const { license, version, engines } = manifest(name);
    const root = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect({ license, version, engines }).toEqual({
      license: root.license,
      version: root.version,
      engines: root.engines,
    });
    expect(readFileSync(join(folder, "LICENSE"), "utf8")).toBe(readFileSync(join(ROOT, "LICENSE"), "utf8"));
  });
});

test("every package is built when it is packed in a fresh clone, and runs with only what it depends on", async () => {
  const clone = cloneSources();
  const packing = (name: string) => execute("npm", ["pack", "--workspace", manifest(name).name], { cwd: clone });
  const programsOf = (name: string) => Object.values<string>(manifest(name).bin ?? {});
  for (const name of names) {
    for (const path of programsOf(name)) {
      const unbuilt = execute(process.execPath, [join(clone, "packages", name, path)]);
      await expect(unbuilt).rejects.toMatchObject({ stderr: expect.stringMatching(/^\w+ is not built yet: run /) });
    }
    await expect(packing(name)).rejects.toMatchObject({
      stderr: expect.stringMatching(/^The dependencies are not installed\. Run npm ci first\.$/m),
    });
  }

  for (const path of ["node_modules", "packages/server/node_modules"]) symlinkSync(join(ROOT, path), join(clone, path));
  for (const name of names) {
    const { name: packageName, version } = manifest(name);
    const before = readdirSync(clone);
    await packing(name);
    const [tarball = ""] = readdirSync(clone).filter((path) => !before.includes(path));
    const folder = await install(name, join(clone, tarball));
    for (const path of programsOf(name)) {
      const program = join(folder, "node_modules", packageName, path);
      const { stdout } = await execute(process.execPath, [program, "--version"], { cwd: folder });
      expect(stdout).toBe(`${version}\n`);
    }
    const built = existsSync(join(folder, "node_modules", packageName, "dist/console/index.html"));
    expect(built).toBe(name === "server");
    if (libraries.includes(name))
      await execute(process.execPath, ["--eval", `import("${packageName}")`], { cwd: folder });
  }
});

test.each(libraries)("the types of packages/%s are what a program that imports it gets", async (name) => {
  const args = [ATTW, "--pack", join(ROOT, "packages", name), "--profile", "esm-only", "--no-color"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  // It ends with an error where there is a problem.
  expect(stdout).toMatch(/node16 \(from ESM\) │ 🟢/u);
});

test.each([
  [
    "client",
    'import { createClient } from "@topupd/client";',
    'export const base: string = createClient({ base: "https://b/v1.0.1", token: "t" });',
  ],
  [
    "conformance",
    'import { runConformance } from "@topupd/conformance";',
    "export const report: string = runConformance;",
  ],
])("a program of two lines compiles with the types of packages/%s, and runs", async (name, first, second) => {
  const folder = await install(name);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const compile = async (line: string) => {
    writeFileSync(join(folder, "program.ts"), `${first}\n${line}\n`);
    await execute(TSC, ["--strict", "--module", "nodenext", "--target", "es2022", "program.ts"], { cwd: folder });
  };
  await expect(compile(second)).rejects.toMatchObject({ stdout: expect.stringContaining("TS2322") });
  await compile(second.replace(": string", ""));
  expect((await execute(process.execPath, ["program.js"], { cwd: folder })).stderr).toBe("");
});

/* Whoever installs the package gets none of the workspace's overrides, which hold back what asks for a newer Node. */
test("packages/server asks by itself for the versions that the workspace holds back", () => {
  const { overrides } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  expect(Object.keys(overrides).length).toBeGreaterThan(0);
  expect(manifest("server").dependencies).toMatchObject(overrides);
});

test("packages/server asks by itself for what the radius package in its bundle needs", () => {
  expect(manifest("server").dependencies).toMatchObject(manifest("radius").dependencies);
});

test.each([
  ["", ["commander", "kysely", "libphonenumber-js", "typebox"]],
  ["console/", ["react", "d3-scale", "wouter"]],
  ["counter/", ["react"]],
])("packages/server has the licences of what is bundled in dist/%s", (folder, bundled) => {
  const text = readFileSync(join(ROOT, "packages/server/dist", folder, "licenses.md"), "utf8");
  const named = [...text.matchAll(/^## (\S+)/gm)].map(([, name]) => name);
  expect(named).toEqual(expect.arrayContaining(bundled));
  expect(text.match(/copyright/gi)?.length).toBeGreaterThanOrEqual(bundled.length);
});

/** What each may import beside its own files. */
const ALLOWED: Readonly<Record<string, RegExp>> = {
  client: /^\.\//,
  conformance: /^(?:\.{1,2}\/|node:|commander$)/,
  demo: /^\.\//,
  radius: /^(?:\.\/|node:|kysely$|mysql2$|pg$)/,
  console: /^(?:\.{1,2}\/|react(?:-dom)?\b|@radix-ui\/|@tanstack\/|d3-|wouter|qrcode-generator)/,
};

test.each(Object.entries(ALLOWED))("packages/%s imports nothing of the server, and what it may", (name, allowed) => {
  const src = join(ROOT, "packages", name, "src");
  const paths = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path));
  expect(paths.length).toBeGreaterThan(1);
  const breaches = paths.flatMap((path) => {
    const text = readFileSync(join(src, path), "utf8");
    const imported = [...text.matchAll(/(?:^(?:import|export|\}).* from |^import |\bimport\()"([^"\n]+)"/gm)].map(
      (match) => match[1] as string,
    );
    const isOwn = (module: string) => !module.startsWith(".") || existsSync(join(src, dirname(path), module));
    return imported.filter((module) => !allowed.test(module) || !isOwn(module)).map((module) => `${path}: ${module}`);
  });
  expect(breaches).toEqual([]);
});

test("a command that is rendered loads few files, and no package that only servers need", async () => {
  const folder = temporaryFolder();
  const line = commandLine({ env: { NODE_V8_COVERAGE: join(folder, "loaded") } });
  await line.mustRun("partner", "add", "WALLET");
  const [report = ""] = readdirSync(join(folder, "loaded"));
  const text = readFileSync(join(folder, "loaded", report), "utf8");
  const { result } = JSON.parse(text) as { readonly result: readonly { readonly url: string }[] };
  const files = result.map(({ url }) => url).filter((url) => url.startsWith("file:"));
  expect(
    files.filter((url) => /node_modules\/(?:@?fastify|kysely|mysql2|nodemailer|pg|typebox|undici)\//.test(url)),
  ).toEqual([]);
  expect(files.length).toBeGreaterThan(20);
  expect(files.length).toBeLessThan(200);
});
