// Compiles src to dist, and puts beside it the SQL that the compiler leaves behind, the partners' pages and the console.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const console = join(here, "..", "console");

await import("../../scripts/build-package.mjs");
await import("./pages.mjs");
cpSync(join(here, "src", "store"), join(here, "dist", "store"), {
  recursive: true,
  filter: (path) => !path.endsWith(".ts"),
});
if (isStale()) {
  const { status } = spawnSync("npm", ["run", "--silent", "build"], { cwd: console, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
cpSync(join(console, "dist"), join(here, "dist", "console"), { recursive: true });

/** Whether the console is not built, or was before its sources were changed. */
function isStale() {
  const page = join(console, "dist", "index.html");
  if (!existsSync(page)) return true;
  const builtAt = statSync(page).mtimeMs;
  const sources = readdirSync(join(console, "src"), { recursive: true }).map((name) => join("src", name));
  return ["index.html", "package.json", "vite.config.ts", ...sources].some(
    (name) => statSync(join(console, name)).mtimeMs > builtAt,
  );
}
