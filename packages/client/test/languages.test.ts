import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { readFences } from "../../server/test/support/markdown.ts";
import { startTestService, temporaryFolder } from "../../server/test/support/service.ts";
import { KNOWN_FAILURES } from "../src/index.ts";
import { isInstalled } from "./support/drivers.ts";

/* The clients in other languages, as they are published. */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** The Python of the oldest version reads it. */
const OLDEST_PYTHON = `import ast, pathlib, sys
for path in pathlib.Path(sys.argv[1]).glob("*.py"):
    ast.parse(path.read_text(), str(path), feature_version=(3, 9))
print("read")`;

const CLIENTS = [
  {
    language: "Python",
    folder: "clients/python",
    sources: "topupd_client",
    version: /^version = "(.+)"$/m,
    alsoVersion: { path: "topupd_client/__init__.py", as: /^__version__ = "(.+)"$/m },
    failure: /"(400\w+)": \((\d+), "(\w+)", "(\w+)"\)/g,
    checks: ["python3", "-c", OLDEST_PYTHON, "topupd_client"],
    run: (example: string) => ["python3", "-c", example],
    env: { PYTHONPATH: join(ROOT, "clients/python"), PYTHONDONTWRITEBYTECODE: "1" },
  },
] as const;

describe.each(CLIENTS)("$folder", ({ language, folder, sources, version, alsoVersion, failure, checks, run, env }) => {
  const texts = readdirSync(join(ROOT, folder, sources))
    .filter((name) => /\.(?:py|php)$/.test(name))
    .map((name) => read(`${folder}/${sources}/${name}`));
  const manifest = JSON.parse(read("package.json")) as { readonly version: string };
  const execute = async ([program = "", ...args]: readonly string[], cwd: string, more: object = {}) =>
    promisify(execFile)(program, args, { cwd, env: { ...process.env, ...env, ...more } });

  test("has the version and the licence of the others", () => {
    const path = readdirSync(join(ROOT, folder)).find((name) => /^(?:pyproject\.toml|composer\.json)$/.test(name));
    expect(version.exec(read(`${folder}/${path}`))?.[1]).toBe(manifest.version);
    expect(alsoVersion.as.exec(read(`${folder}/${alsoVersion.path}`))?.[1]).toBe(manifest.version);
    expect(read(`${folder}/LICENSE`)).toBe(read("LICENSE"));
  });

  test("has at most 700 lines that are not blank", () => {
    expect(texts.length).toBeGreaterThan(5);
    const lines = texts.flatMap((text) => text.split("\n").filter((line) => line.trim() !== ""));
    expect(lines.length).toBeLessThanOrEqual(700);
  });

  test("knows the failures of the client in TypeScript", () => {
    const known = texts
      .flatMap((text) => [...text.matchAll(failure)])
      .map(([, code, status, reason, retry]) => {
        return [code, { httpStatus: Number(status), reason, retry }];
      });
    expect(Object.fromEntries(known)).toEqual(KNOWN_FAILURES);
  });

  test.skipIf(!isInstalled(language))("has sources that the oldest version reads", async () => {
    const { stdout } = await execute(checks, join(ROOT, folder));
    expect(stdout.trim().split("\n").at(-1)).toBe("read");
  });

  test.skipIf(!isInstalled(language))("has an example that tops up once, however often it is started", async () => {
    const example = readFences(read(`${folder}/README.md`)).find((fence) => fence.language === language.toLowerCase());
    const service = await startTestService();
    const BASE_URL = await service.app.listen({ host: "127.0.0.1", port: 0 });
    const cwd = temporaryFolder();
    const start = async () =>
      (await execute(run(example?.lines.join("\n") ?? ""), cwd, { BASE_URL, TOKEN: service.trialToken })).stdout.trim();
    expect([await start(), await start()]).toEqual(["topped_up", "topped_up"]);
    const [file = ""] = readdirSync(cwd);
    const order = readFileSync(join(cwd, file), "utf8");
    const [, checkoutId = ""] = /"checkout_?[iI]d": ?"([^"]+)"/.exec(order) ?? [];
    expect(await service.store.findTransaction(checkoutId)).toBeDefined();
  });
});
