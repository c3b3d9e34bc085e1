// Compiles src of the package in the current folder to dist.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const typescript = createRequire(import.meta.url).resolve("typescript/package.json");

rmSync("dist", { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [join(dirname(typescript), "bin", "tsc"), "-p", "tsconfig.json"], {
  stdio: "inherit",
});
if (status !== 0) process.exit(1);
