import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const MOST_BYTES = 220 * 1024;

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
}

const manifest = JSON.parse(readFileSync(`${DIST}manifest.json`, "utf8")) as Record<string, Chunk>;
const page = readFileSync(`${DIST}index.html`, "utf8");

describe("the built console", () => {
  test("needs at most 220 KiB of compressed JavaScript for its first page", () => {
    const needed = new Set(["index.html", "src/pages/overview/overview.tsx"]);
    for (const name of needed) for (const imported of manifest[name]?.imports ?? []) needed.add(imported);
    const sizes = [...needed].map((name) => readFileSync(`${DIST}${manifest[name]?.file}.gz`).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(MOST_BYTES);
  });

  test("has no script within its page and nothing from elsewhere", () => {
    expect([...page.matchAll(/<script\b[^>]*>([^<]*)/g)].map(([, text]) => text?.trim())).toEqual([""]);
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/);
    expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].filter(([, to]) => !to?.startsWith("/assets/"))).toEqual([]);
  });
});
