import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { commandLine } from "../support/command-line.ts";
import { temporaryFolder } from "../support/service.ts";
import { tool } from "../support/tools.ts";

/*
 * What would be published. The packages are those that the build has just made.
 */

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const ATTW = tool("@arethetypeswrong/cli/dist/index.js");
const PUBLINT = pathToFileURL(tool("publint/src/index-node.js")).href;

const manifest = (name: string) => JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8"));
const names = readdirSync(join(ROOT, "packages")).filter((name) => manifest(name).private !== true);
const libraries = names.filter((name) => manifest(name).exports !== undefined);

describe.each(names)("packages/%s", (name) => {
  const folder = join(ROOT, "packages", name);

  test("is published without a warning", async () => {
    const { publint } = await import(PUBLINT);
    const { messages } = await publint({ pkgDir: folder, strict: true, pack: "npm" });
    expect(messages).toEqual([]);
  });

  test("packs what is needed to run it, and nothing else", async () => {
    const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: folder,
    });
    const [{ files }] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
    const paths = files.map(({ path }) => path);
    const known =
      /^(?:package\.json|README\.md|LICENSE|bin\/\w+\.js|dist\/.+\.(?:js|d\.ts|sql)|dist\/pages\/[a-z-]+\.html|dist\/(?:console|counter)\/.+)$/;
    expect(paths.filter((path) => !known.test(path))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(["package.json", "README.md", "LICENSE"]));
    expect(paths.filter((path) => path.startsWith("dist/")).length).toBeGreaterThan(5);
    for (const path of ["dist/console/index.html", "dist/pages/partner-guide.html"])
      expect(paths.includes(path)).toBe(name === "server");
    for (const path of Object.values<string>(manifest(name).bin ?? {})) expect(paths).toContain(path);
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

test.each(libraries)("the types of packages/%s are what a program that imports it gets", async (name) => {
  const args = [ATTW, "--pack", join(ROOT, "packages", name), "--profile", "esm-only", "--no-color"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  // It ends with an error where there is a problem.
  expect(stdout).toMatch(/node16 \(from ESM\) │ 🟢/u);
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
