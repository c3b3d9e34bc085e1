import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/** The two builds, each with the modules of its first page and their most bytes. */
const BUILT = [
  ["console", "dist", ["index.html", "src/pages/overview/overview.tsx"], 220 * 1024],
  ["counter", "dist-counter", ["index.html"], 160 * 1024],
] as const;

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
}

describe.each(BUILT)("the built %s", (_, folder, modules, mostBytes) => {
  const dist = fileURLToPath(new URL(`../${folder}/`, import.meta.url));
  const manifest = JSON.parse(readFileSync(`${dist}manifest.json`, "utf8")) as Record<string, Chunk>;
  const page = readFileSync(`${dist}index.html`, "utf8");

  test("needs little compressed JavaScript for its first page", () => {
    const needed = new Set<string>(modules);
    for (const name of needed) for (const imported of manifest[name]?.imports ?? []) needed.add(imported);
    const sizes = [...needed].map((name) => readFileSync(`${dist}${manifest[name]?.file}.gz`).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(mostBytes);
  });

  test("has no script within its page and nothing from elsewhere", () => {
    expect([...page.matchAll(/<script\b[^>]*>([^<]*)/g)].map(([, text]) => text?.trim())).toEqual([""]);
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/);
    expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].filter(([, to]) => !to?.startsWith("/assets/"))).toEqual([]);
  });
});
