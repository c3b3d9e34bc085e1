// Compiles src to dist, and puts the SQL that the compiler leaves behind beside it.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

await import("../../scripts/build-package.mjs");
cpSync(join(here, "src", "store"), join(here, "dist", "store"), {
  recursive: true,
  filter: (path) => !path.endsWith(".ts"),
});
