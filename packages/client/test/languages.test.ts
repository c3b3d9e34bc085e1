import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { isInstalled } from "../../server/test/support/installed.ts";
import { readFences } from "../../server/test/support/markdown.ts";
import { PREFIX, startTestService, temporaryFolder } from "../../server/test/support/service.ts";
import { KNOWN_FAILURES } from "../src/index.ts";

/* The clients in other languages, as they are published. */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Reads the sources as Python 3.9 does. */
const READ_PYTHON = `import ast, pathlib
for path in pathlib.Path("topupd_client").glob("*.py"):
    ast.parse(path.read_text(), str(path), feature_version=(3, 9))`;

/** Loads all classes, as Composer does: each from the file of its name. */
const AUTOLOAD = `<?php error_reporting(E_ALL); spl_autoload_register(static function (string $class): void {
    require getenv("CLIENT") . "/src/" . substr($class, strlen('Topupd\\Client\\\\')) . ".php";
});`;
const READ_PHP = `eval(substr(getenv("AUTOLOAD"), 5)); foreach (glob("src/*.php") as $path)
    class_exists('Topupd\\Client\\\\' . basename($path, ".php")) || exit(1);`;

const CLIENTS = [
  {
    language: "Python",
    folder: "clients/python",
    sources: "topupd_client",
    versions: { "pyproject.toml": /^version = "(.+)"$/m, "topupd_client/__init__.py": /^__version__ = "(.+)"$/m },
    failure: /"(400\w+)": \((\d+), "(\w+)", "(\w+)"\)/g,
    check: ["python3", "-c", READ_PYTHON],
    builder: "Python's build",
    build: ["python3", "-m", "build", "--no-isolation"],
    example: (text: string) => ["python3", "-c", text],
    env: { PYTHONPATH: join(ROOT, "clients/python"), PYTHONDONTWRITEBYTECODE: "1" },
  },
  {
    language: "PHP",
    folder: "clients/php",
    sources: "src",
    // Packagist takes the version from the tag.
    versions: {},
    failure: /'(400\w+)' => \[(\d+), '(\w+)', '(\w+)'\]/g,
    check: ["php", "-r", READ_PHP],
    builder: "Composer",
    build: ["composer", "validate", "--strict", "--no-interaction"],
    example: (text: string) => ["php", "-r", text],
    env: { CLIENT: join(ROOT, "clients/php"), AUTOLOAD },
  },
] as const;

describe.each(CLIENTS)("$folder", ({ language, folder, sources, versions, failure, ...client }) => {
  const { check, builder, build, example, env } = client;
  const texts = readdirSync(join(ROOT, folder, sources))
    .filter((name) => /\.(?:py|php)$/.test(name))
    .map((name) => read(`${folder}/${sources}/${name}`));
  const manifest = JSON.parse(read("package.json")) as { readonly version: string };
  const execute = async ([program = "", ...args]: readonly string[], cwd: string, more: object = {}) =>
    promisify(execFile)(program, args, { cwd, env: { ...process.env, ...env, ...more } });

  test("has the version and the licence of the others", () => {
    for (const [path, version] of Object.entries(versions)) {
      expect(version.exec(read(`${folder}/${path}`))?.[1]).toBe(manifest.version);
    }
    expect(read(`${folder}/LICENSE`)).toBe(read("LICENSE"));
  });

  test("knows the failures of the client in TypeScript", () => {
    const known = texts
      .flatMap((text) => [...text.matchAll(failure)])
      .map(([, code, status, reason, retry]) => {
        return [code, { httpStatus: Number(status), reason, retry }];
      });
    expect(Object.fromEntries(known)).toEqual(KNOWN_FAILURES);
  });

  test.skipIf(!isInstalled(language))("has sources that load", async () => {
    await execute(check, join(ROOT, folder));
  });

  test.skipIf(!isInstalled(builder))("is built for its registry without a warning", async () => {
    const cwd = join(temporaryFolder(), "client");
    cpSync(join(ROOT, folder), cwd, { recursive: true });
    const { stdout, stderr } = await execute(build, cwd);
    expect(stdout + stderr).not.toMatch(/deprecat|# .*warnings/i);
    if (language === "Python") {
      expect(readdirSync(join(cwd, "dist"))).toHaveLength(2);
      expect(stdout).toMatch(/adding 'topupd_client\/py\.typed'[\s\S]+licenses\/LICENSE'/);
    }
  });

  test.skipIf(!isInstalled(language))("has an example that tops up once, however often it is started", async () => {
    const fence = readFences(read(`${folder}/README.md`)).find((each) => each.language === language.toLowerCase());
    const service = await startTestService();
    const BASE = `${await service.app.listen({ host: "127.0.0.1", port: 0 })}${PREFIX}/v1.0.1`;
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, "vendor"));
    writeFileSync(join(cwd, "vendor/autoload.php"), AUTOLOAD);
    const start = async () => {
      const more = { BASE, TOKEN: service.trialToken };
      return (await execute(example(fence?.lines.join("\n") ?? ""), cwd, more)).stdout.trim();
    };
    expect([await start(), await start()]).toEqual(["topped_up", "topped_up"]);
    const order = JSON.parse(readFileSync(join(cwd, "order-1.json"), "utf8"));
    expect(await service.store.findTransaction(order.checkoutId ?? order.checkout_id)).toBeDefined();
  });
});
