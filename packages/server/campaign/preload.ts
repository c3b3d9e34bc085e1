import { execFileSync, spawnSync } from "node:child_process";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Why a campaign that needs a library for LD_PRELOAD cannot run here; undefined if it can. */
export function lacksCompiler(): string | undefined {
  if (process.platform !== "linux") return "skipped: needs Linux";
  return spawnSync("cc", ["--version"]).status === 0 ? undefined : "skipped: needs a C compiler (cc)";
}

/** Compiles a library. @returns its path, in the folder. */
export function compileLibrary(source: URL, folder: string): string {
  const library = join(folder, `${basename(source.pathname, ".c")}.so`);
  execFileSync("cc", ["-O2", "-shared", "-fPIC", "-o", library, fileURLToPath(source), "-ldl", "-lpthread"]);
  return library;
}
