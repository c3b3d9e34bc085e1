// Compiles src to dist, and puts the SQL that the compiler leaves behind beside it.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const typescript = createRequire(import.meta.url).resolve("typescript/package.json");

rmSync(join(here, "dist"), { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  [join(dirname(typescript), "bin", "tsc"), "-p", join(here, "tsconfig.json")],
  { stdio: "inherit" },
);
if (status !== 0) process.exit(1);
cpSync(join(here, "src", "store"), join(here, "dist", "store"), {
  recursive: true,
  filter: (path) => !path.endsWith(".ts"),
});
