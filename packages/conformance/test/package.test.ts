import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { CHECKS } from "../src/checks/all.ts";
import { EXIT } from "../src/command-line.ts";
import { run } from "./support/command.ts";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const DECISIONS = fileURLToPath(new URL("../../../docs/decisions.md", import.meta.url));
const readme = readFileSync(join(PACKAGE, "README.md"), "utf8");

const files = ["src", "test"].flatMap((folder) =>
  readdirSync(join(PACKAGE, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(PACKAGE, folder, path), "utf8") })),
);

describe("the README", () => {
  test("has every check, with its level, its source and its demand, and no other", () => {
    const rows = [...readme.matchAll(/^\| `([\w-]+)` \| (must|money|topupd) \| ([^|]+) \| ([^|]+) \|$/gm)].map((row) =>
      row.slice(1),
    );
    expect(rows).toEqual(CHECKS.map(({ id, level, source, sentence }) => [id, level, source, sentence]));
  });

  test("names the essential checks", () => {
    const [, essential = ""] = /^Essential are ([^.]+)\.$/m.exec(readme) ?? [];
    const named = [...essential.matchAll(/`([\w-]+)`/g)].map(([, id]) => id);
    expect(named).toEqual(CHECKS.filter(({ isEssential }) => isEssential).map(({ id }) => id));
  });

  test("names every option, and no other", async () => {
    const { stdout } = await run(["--help"]);
    const options = (text: string) => [...new Set(text.match(/(?<=[\s`])--[a-z][a-z-]+/g))].toSorted();
    const elsewhere = ["--help", "--version"];
    const ofNpm = ["--workspace"];
    expect(options(readme).filter((option) => !ofNpm.includes(option))).toEqual(
      options(stdout).filter((option) => !elsewhere.includes(option)),
    );
  });

  test("has every exit code", () => {
    const codes = [...readme.matchAll(/^\| (\d) \| /gm)].map(([, code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT));
  });
});

describe("the checks", () => {
  test("have ids in kebab-case, each its own, and a short sentence", () => {
    const ids = CHECKS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(id))).toEqual([]);
    expect(
      CHECKS.filter(({ sentence }) => sentence.length > 80 || !sentence.endsWith(".")).map(({ id }) => id),
    ).toEqual([]);
  });

  test("of topupd name a heading of its decisions, those of the interface a section of it", () => {
    const headings = [...readFileSync(DECISIONS, "utf8").matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    const sourceless = CHECKS.filter(({ level, source }) =>
      level === "topupd" ? !headings.includes(source) : !/^§\d(\.\d)? [\w -]+$/.test(source),
    );
    expect(sourceless.map(({ id }) => id)).toEqual([]);
  });
});

describe("the source", () => {
  test("imports nothing of its own outside src, and of others Node and commander alone", () => {
    const imports = files
      .filter(({ path }) => path.startsWith("src/"))
      .flatMap(({ path, text }) => [...text.matchAll(/from "([^"]+)"/g)].map(([, name = ""]) => ({ path, name })));
    const isAllowed = ({ path, name }: { path: string; name: string }) =>
      /^node:|^commander$|^\.\/[\w/-]+\.ts$/.test(name) ||
      (path.split("/").length === 3 && /^\.\.\/[\w-]+\.ts$/.test(name));
    expect(imports.length).toBeGreaterThan(50);
    expect(imports.filter((each) => !isAllowed(each))).toEqual([]);
  });

  test("touches the process in main.ts alone, and makes nothing up", () => {
    const world = /\bprocess\.|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomBytes\b|\brandomUUID\b/;
    const touching = files.filter(({ path, text }) => path.startsWith("src/") && world.test(text));
    expect(touching.map(({ path }) => path)).toEqual(["src/main.ts"]);
  });
});
