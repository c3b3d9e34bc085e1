// Compiles src to dist, and adds the SQL, the partners' pages and the console. Writes the console's types of the staff API.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
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
await declareStaffApi(join(console, "src", "api", "staff-api.d.ts"));
if (isStale()) {
  const { status } = spawnSync("npm", ["run", "--silent", "build"], { cwd: console, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
cpSync(join(console, "dist"), join(here, "dist", "console"), { recursive: true });

/** Writes the types unless they are the same, which would have the console built again. */
async function declareStaffApi(path) {
  const { declarationOf } = await import("./dist/faces/staff-api/declaration.js");
  const { ROUTES } = await import("./dist/faces/staff-api/routes.js");
  const text = declarationOf(ROUTES);
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}

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
