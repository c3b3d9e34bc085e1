import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { needsOf } from "./needs.ts";
import { startForAll } from "./postgres-set-up.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/**
 * Installs, builds and starts what the chosen files of tests need, so that one file begins at once. `TEST_FILES` has words of
 * their paths. Without it, all of them may run, for which everything was installed and built before.
 */
export default async function setUp(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const chosen = (process.env["TEST_FILES"] ?? "").split(" ").filter((words) => words !== "");
  if (chosen.length === 0) return startForAll(project);
  const { testFiles } = await project.globTestFiles(chosen);
  const { tools, built, postgres } = needsOf(testFiles);
  if (tools) run(process.execPath, ["scripts/install-tools.mjs"]);
  for (const workspace of built) run("npm", ["run", "--silent", "build", "--workspace", workspace]);
  return postgres ? startForAll(project) : undefined;
}

/** @throws Error if the program fails. */
function run(program: string, args: readonly string[]): void {
  const { status, error } = spawnSync(program, args, {
    cwd: ROOT,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed`);
}
