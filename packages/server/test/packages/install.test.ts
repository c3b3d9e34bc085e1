import { readFileSync } from "node:fs";
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

  test("has the same settings in both folders: what is installed runs no script", () => {
    const [first, ...others] = FOLDERS.map((folder) => read(`${folder}.npmrc`));
    expect(first).toMatch(/^ignore-scripts=true$/m);
    for (const other of others) expect(other).toBe(first);
  });

  test.each(FOLDERS)("takes what %spackage-lock.json lists from whatever registry npm is set to", (folder) => {
    expect(read(`${folder}package-lock.json`)).not.toMatch(/"resolved": "\w+:/);
  });
});
