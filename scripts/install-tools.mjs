// Installs the programs of tools/ for the tests and the bench, unless they are installed as the lockfile lists them.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const listed = packagesOf("tools/package-lock.json");
const installed = packagesOf("tools/node_modules/.package-lock.json");
// Most of the optional ones are for other platforms.
const isThere = ([path, { integrity, optional }]) => optional || installed[path]?.integrity === integrity;

if (!Object.entries(listed).every(isThere)) {
  // The level is set because an npm that was started as silent would not say why it failed.
  const args = ["ci", "--prefix", "tools", "--loglevel", "error"];
  process.stdout.write(`npm ${args.join(" ")}\n`);
  const { status, error } = spawnSync("npm", args, { stdio: "inherit", shell: process.platform === "win32" });
  if (error !== undefined) throw error;
  process.exitCode = status ?? 1;
}

function packagesOf(lockfile) {
  return existsSync(lockfile) ? JSON.parse(readFileSync(lockfile, "utf8")).packages : {};
}
