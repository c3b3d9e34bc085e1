import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { NODE_VERSIONS, verify } from "../../../../scripts/node-binaries.mjs";
import { publishCommands, STEPS, warningsIn } from "../../../../scripts/release/steps.mjs";
import { changelogProblems, versionProblems } from "../../../../scripts/release/versions.mjs";
import { temporaryFolder } from "../support/service.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const { version, engines } = JSON.parse(read("package.json")) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};
const FILES = [
  ...["package.json", "package-lock.json", "README.md", "CHANGELOG.md"],
  ...["server", "client", "conformance"].map((name) => `packages/${name}/README.md`),
  ...readdirSync(join(ROOT, "packages")).map((name) => `packages/${name}/package.json`),
  ...["clients/python/pyproject.toml", "clients/python/topupd_client/__init__.py"],
];

/** A copy of the files that have the version, as they are at a release. */
function releasedTree(): string {
  const folder = temporaryFolder();
  for (const path of FILES) cpSync(join(ROOT, path), join(folder, path));
  writeFileSync(join(folder, "CHANGELOG.md"), `# Changelog\n\n## [${version}] - 2026-12-01\n`);
  return folder;
}

describe("the version of a release", () => {
  test("is found right if all files have it", () => {
    expect(versionProblems(releasedTree(), version)).toEqual([]);
  });

  test.each(FILES)("is found wrong in %s", (path) => {
    const folder = releasedTree();
    const text = readFileSync(join(folder, path), "utf8");
    writeFileSync(join(folder, path), text.replace(version, "99.0.1"));
    const problems = versionProblems(folder, version);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(path);
    expect(problems[0]).toMatch("99.0.1");
  });

  test("is found wrong where a package asks for another of its own", () => {
    const folder = releasedTree();
    const path = join(folder, "packages/server/package.json");
    writeFileSync(path, readFileSync(path, "utf8").replace(`"@topupd/demo": "${version}"`, '"@topupd/demo": "99.0.1"'));
    expect(versionProblems(folder, version)).toEqual(["packages/server/package.json: @topupd/demo has 99.0.1"]);
  });

  test.each([
    ["## [Unreleased]\n\n## [0.1.0] - 2026-12-01", "[Unreleased]"],
    ["## [0.1.0]", "[0.1.0]"],
    ["## [0.1.0] - 2026-13-01", "[0.1.0] - 2026-13-01"],
    ["", "no section"],
  ])("needs a newest section of the changelog with version and date, not %j", (text, newest) => {
    expect(changelogProblems(text, "0.1.0")).toEqual([
      `CHANGELOG.md begins with "${newest}", not with "[0.1.0] - YYYY-MM-DD"`,
    ]);
  });
});

test("a release has the steps that CONTRIBUTING.md lists, in this order", () => {
  const [, steps = ""] = read("CONTRIBUTING.md").split(/## Make a release\n[\s\S]+Steps: /);
  const listed = [...steps.matchAll(/`([a-z]+)`/g)].map(([, name]) => name);
  expect(listed).toEqual(Object.keys(STEPS));
});

test("a release ends with commands that name its version", () => {
  expect(publishCommands("1.2.3").slice(0, 2)).toEqual(["git tag v1.2.3", "git push origin HEAD v1.2.3"]);
});

test("a warning of npm is a problem, except that a dry run needs no login", () => {
  const warning = "npm warn publish npm auto-corrected some errors in your package.json";
  const login = "npm warn publish This command requires you to be logged in to a registry (dry-run)";
  expect(warningsIn(`npm notice topupd\n${login}\n${warning}\n+ topupd@0.1.0`)).toEqual([warning]);
});

describe("the pinned versions of Node", () => {
  test("begin with the oldest that the packages accept", () => {
    const [oldest] = Object.values(NODE_VERSIONS) as { readonly version: string }[];
    expect(`${oldest?.version}`).toBe(`${engines.node.replace(">=", "")}.0`);
    for (const [major, pin] of Object.entries(NODE_VERSIONS)) {
      expect(pin).toEqual({
        version: expect.stringMatching(`^${major}\\.\\d+\\.\\d+$`),
        x64: expect.stringMatching(/^sha512-[\w+/]{86}==$/),
        arm64: expect.stringMatching(/^sha512-[\w+/]{86}==$/),
      });
    }
  });

  test("refuse another file", () => {
    const path = join(temporaryFolder(), "file");
    writeFileSync(path, "abc");
    const integrity = "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==";
    verify(path, integrity);
    expect(() => verify(path, integrity.replace("3a81", "3b81"))).toThrow("is pinned");
  });
});
