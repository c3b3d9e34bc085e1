import { execFile, spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { CODE, TOKEN } from "./support/fake-data.ts";
import { startFakeProvider } from "./support/fake-provider.ts";

/* The built program, as npx starts it. */

const PROGRAM = fileURLToPath(new URL("../bin/conformance.js", import.meta.url));

function start(...words: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, ...words], { env: {} }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

test("the program checks a service, with a token and reports in files", async () => {
  const { base } = await startFakeProvider({ isTopupd: true });
  const folder = mkdtempSync(join(tmpdir(), "topupd-conformance-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [token, json, junit] = ["token", "report.json", "report.xml"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(token, `${TOKEN}\n`);
  const words = ["--base", base, "--code", CODE, "--token-file", token, "--json", json, "--junit", junit];
  const { code, stdout } = await start(...words, "--api", "v1.0.1", "--top-up", "--profile", "topupd");
  expect(code).toBe(0);
  expect(stdout).toContain("0 fail, 14 skipped");
  expect(JSON.parse(readFileSync(json, "utf8"))).toMatchObject({ ok: true, profile: "topupd", topUp: true });
  expect(readFileSync(junit, "utf8")).toContain("</testsuites>");
});

test("the program tells its version, and wrong usage by its exit code", async () => {
  expect((await start("--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const { code, stderr } = await start();
  expect(code).toBe(2);
  expect(stderr).toContain("For example:\n  conformance --base");
});

/** Runs the program with the report on one descriptor and the progress on another. @returns its exit code. */
function startOn(
  stdout: number | "ignore",
  stderr: number | "pipe" | "ignore",
  words: string[],
): Promise<number | null> {
  const child = spawn(process.execPath, [PROGRAM, ...words], { env: {}, stdio: ["ignore", stdout, stderr] });
  // A reader that goes away at once: writing to it fails from then on.
  child.stderr?.destroy();
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}

function openFull(): number {
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  return full;
}

test("a top-up is reported although nobody reads the progress", async () => {
  const { base, charged } = await startFakeProvider();
  const folder = mkdtempSync(join(tmpdir(), "topupd-conformance-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const json = join(folder, "report.json");
  const words = ["--base", base, "--code", CODE, "--token", TOKEN, "--api", "v1.0.1", "--top-up", "--json", json];
  expect(await startOn("ignore", "pipe", words)).toBe(0);
  expect([charged(), JSON.parse(readFileSync(json, "utf8"))]).toMatchObject([1, { ok: true }]);
});

test.skipIf(!existsSync("/dev/full"))("results that cannot be written end with 2, and progress does not", async () => {
  const { base } = await startFakeProvider();
  const words = ["--base", base, "--code", CODE, "--token", TOKEN];
  const folder = mkdtempSync(join(tmpdir(), "topupd-conformance-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const progress = openSync(join(folder, "progress"), "w");
  onTestFinished(() => closeSync(progress));
  expect(await startOn(openFull(), progress, [...words, "--json", "-"])).toBe(2);
  expect(readFileSync(join(folder, "progress"), "utf8")).toContain("stdout cannot be written");
  expect(await startOn(openFull(), "ignore", words)).toBe(2);
  expect(await startOn("ignore", openFull(), words)).toBe(0);
});
