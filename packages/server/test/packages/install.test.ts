import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const ROOT = new URL("../../../../", import.meta.url);
const FOLDERS = ["", "tools/"];

const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");

describe("npm ci", () => {
  test("installs at most 350 packages, those of the platform included", () => {
    const { packages } = JSON.parse(read("package-lock.json")) as {
      readonly packages: Readonly<
        Record<string, { readonly os?: readonly string[]; readonly cpu?: readonly string[] }>
      >;
    };
    const installed = Object.entries(packages).filter(
      ([path, { os, cpu }]) =>
        path.includes("node_modules/") && (os ?? ["linux"]).includes("linux") && (cpu ?? ["x64"]).includes("x64"),
    );
    expect(installed.length).toBeGreaterThan(50);
    expect(installed.length).toBeLessThanOrEqual(350);
  });

  test("runs no install script of a program for checks, and two of others, which are not needed", () => {
    const [settings = "", ofTools = ""] = FOLDERS.map((folder) => read(`${folder}.npmrc`));
    expect(ofTools).toBe(`${settings}ignore-scripts=true\n`);
    const { packages } = JSON.parse(read("package-lock.json")) as {
      readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
    };
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(scripted.map(([path]) => path)).toEqual(["node_modules/@photostructure/sqlite", "node_modules/esbuild"]);
    expect(read(".ci/run")).toContain("npm ci --ignore-scripts");
  });

  test.each(FOLDERS)("takes what %spackage-lock.json lists from whatever registry npm is set to", (folder) => {
    expect(read(`${folder}package-lock.json`)).not.toMatch(/"resolved": "\w+:/);
  });
});

/* Whoever registers a name of ours can run programs where it is installed, with the tokens of that environment. */
describe("packages that are not published yet", () => {
  const SAYS_SO = "topupd's packages are not published yet: do not install them by name from a registry.";
  const WITH_PACKAGES = [
    "",
    "packages/server/",
    "packages/client/",
    "packages/conformance/",
    "clients/php/",
    "clients/python/",
  ];
  const FOLDERS_OF_TEXTS = [
    "docs",
    "deploy",
    "examples",
    "clients",
    "contract",
    "bench",
    "packages",
    "packaging",
    "scripts",
  ];
  const INSTALLS =
    /\b(?:npx|bunx|pipx|uvx|(?:npm|pnpm|yarn|bun|deno) (?:add|dlx|exec|i|init|install|pack|x)|pip3? install|composer (?:global )?require)\b([^\n`;&|]*)/g;
  const OWN_NAME = /^(?:npm:)?(?:topupd|@topupd\/[a-z]+|topupd-client|topupd\/client)(?:[@=<>~^].*)?$/;

  /** The commands of a text that ask a registry for a name of ours. */
  function fetchesOf(text: string): string[] {
    return [...text.matchAll(INSTALLS)].flatMap(([command, words = ""]) => {
      const each = words.split(/[\s"',]+/);
      const isAsked = (word: string, at: number) =>
        OWN_NAME.test(word) && !/^(?:-w|--workspace)$/.test(each[at - 1] ?? "");
      return each.some(isAsked) && !each.includes("--no") ? [command] : [];
    });
  }

  test.each(WITH_PACKAGES)("%sREADME.md says so", (folder) => {
    expect(read(`${folder}README.md`).replaceAll(/\s+/g, " ")).toContain(SAYS_SO);
  });

  test("are fetched by no command of a page or program", () => {
    const below = FOLDERS_OF_TEXTS.flatMap((folder) =>
      readdirSync(new URL(folder, ROOT), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`),
    );
    const paths = [...readdirSync(ROOT), ...below].filter(
      (path) =>
        !/(?:^|\/)(?:node_modules|dist|dist-counter|test)\//.test(path) &&
        /\.(?:[cm]?[jt]sx?|html|json|md|php|py|sh|toml|txt|ya?ml)$|Dockerfile$/.test(path),
    );
    expect(paths.length).toBeGreaterThan(400);
    expect(paths.flatMap((path) => fetchesOf(read(path)).map((command) => `${path}: ${command}`))).toEqual([]);
  });

  test.each([
    ["CONFORMANCE_TOKEN=... npx @topupd/conformance --base B", 1],
    ["npm install -g --ignore-scripts topupd", 1],
    ["run `npm i @topupd/client@0.1.0`", 1],
    ["pip install topupd-client==0.1.0", 1],
    ["composer require topupd/client", 1],
    ['execFile("npx", ["topupd", "demo"])', 1],
    ['execFile("npx", ["--no", "--", "topupd", "demo"])', 0],
    ["npm pack --workspace topupd && npm install -g ./topupd-0.1.0.tgz", 0],
    ["npx ./topupd-conformance-0.1.0.tgz --base B", 0],
    ["npm install ../topupd-client-0.1.0.tgz", 0],
    ["pip install ./clients/python", 0],
    ["composer require topupd/client:@dev", 0],
  ])("are fetched by %j: %i", (text, times) => {
    expect(fetchesOf(text)).toHaveLength(times);
  });
});
