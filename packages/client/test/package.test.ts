import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const NODE_MODULES = fileURLToPath(new URL("../../../node_modules/", import.meta.url));

function files(folder: string, ending: string) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending))
    .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(ROOT, folder, path), "utf8") }));
}

/** What a browser, Deno or a worker does not have, or a program that is loaded twice must not depend on. */
const OF_NODE = /\b(?:process|Buffer|require|__dirname|__filename|setImmediate|global)\b|["']node:/;

describe("the package as it is built", () => {
  const built = files("dist", ".js");

  test("imports nothing but itself", () => {
    expect(built.length).toBeGreaterThan(10);
    const imports = built.flatMap(({ text }) =>
      [...text.matchAll(/(?:\sfrom\s+|\bimport\s*\(?\s*)"([^"]+)"/g)].map(([, name]) => name),
    );
    expect(imports.filter((name) => !/^\.\/[\w-]+\.js$/.test(name as string))).toEqual([]);
  });

  test("uses nothing of Node", () => {
    const code = built.map(({ path, text }) => ({ path, text: text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "") }));
    expect(code.filter(({ text }) => OF_NODE.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("depends on nothing", () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, unknown>;
    const kinds = ["dependencies", "peerDependencies", "optionalDependencies"];
    expect(Object.keys(manifest).filter((name) => kinds.includes(name))).toEqual([]);
  });
});

describe("a program in TypeScript", () => {
  const folder = mkdtempSync(join(tmpdir(), "topupd-types-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "node_modules/@topupd"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules/@topupd/client"), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }');
  writeFileSync(
    join(folder, "static.ts"),
    'import { createClient } from "@topupd/client";\nexport { createClient };\n',
  );
  writeFileSync(join(folder, "dynamic.ts"), 'export const load = () => import("@topupd/client");\n');

  const compile = (file: string, ...settings: readonly string[]) => {
    const tsc = join(NODE_MODULES, ".bin/tsc");
    const options = ["--noEmit", "--strict", "--lib", "es2023,dom", "--types", "", ...settings, file];
    return spawnSync(tsc, options, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" }).stdout;
  };

  test.each([
    [["--module", "nodenext"]],
    [["--module", "node20"]],
    [["--module", "preserve"]],
    [["--module", "commonjs", "--moduleResolution", "bundler"]],
  ])("that is compiled to CommonJS imports the package with %j", (settings) => {
    expect(compile("static.ts", ...settings)).toBe("");
  });

  test.each(["node16", "node18"])("that is compiled to CommonJS imports it dynamically with module %s", (module) => {
    expect(compile("static.ts", "--module", module)).toContain("TS1479");
    expect(compile("dynamic.ts", "--module", module)).toBe("");
  });

  test("as the README's first example has it compiles under --strict", () => {
    const [, example = ""] = /```ts\n(.*?)```/s.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
    expect(example).toContain("client.topUp(purchase)");
    writeFileSync(join(folder, "example.mts"), example);
    const orders = 'import type { Purchase } from "@topupd/client";\n';
    writeFileSync(
      join(folder, "orders.ts"),
      `${orders}export declare const orders: { save(purchase: Purchase): Promise<void> };\n`,
    );
    const types = ["--types", "node", "--typeRoots", join(NODE_MODULES, "@types")];
    expect(compile("example.mts", "--module", "nodenext", "--noUncheckedIndexedAccess", ...types)).toBe("");
  });
});

describe("the sources", () => {
  test("touch the clock and randomness only where these are handed in", () => {
    const world = /\bDate\.now\b|\bnew Date\b|\bMath\.random\b|\bsetTimeout\b|\bglobalThis\b|\bperformance\b/;
    const using = files("src", ".ts").filter(({ text }) => world.test(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")));
    expect(using.map(({ path }) => path).sort()).toEqual(["src/clock.ts", "src/options.ts"]);
  });
});
