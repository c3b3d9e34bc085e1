// Bundles src to dist, and adds the SQL, the partners' pages the console and the counter. Writes their types of the APIs.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const here = fileURLToPath(new URL(".", import.meta.url));
const console = join(here, "..", "console");
/** What every command loads: one file of each is read three times as fast as its hundreds. */
const BUNDLED = ["commander", "kysely", "libphonenumber-js", "typebox"];

rmSync(join(here, "dist"), { recursive: true, force: true });
await bundle();
await import("./pages.mjs");
cpSync(join(here, "src", "store", "migrations"), join(here, "dist", "migrations"), { recursive: true });
const { declarationOf } = await import("./dist/declaration.js");
const [{ ROUTES }, { counterRoutesWith }] = [await import("./dist/routes.js"), await import("./dist/counter.js")];
declare(ROUTES, join(console, "src", "api", "staff-api.d.ts"));
declare(counterRoutesWith({}), join(console, "src", "counter", "counter-api.d.ts"));
if (isStale()) {
  const { status } = spawnSync("npm", ["run", "--silent", "build"], { cwd: console, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
cpSync(join(console, "dist"), join(here, "dist", "console"), { recursive: true });
cpSync(join(console, "dist-counter"), join(here, "dist", "counter"), { recursive: true });

/** Puts every chunk at the top of dist, where `src/built.ts` and the migrations expect it. */
async function bundle() {
  const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const loaded = Object.keys(dependencies).filter((name) => !BUNDLED.includes(name));
  const program = await rolldown({
    input: {
      main: join(here, "src", "main.ts"),
      "settler-main": join(here, "src", "settler-main.ts"),
      declaration: join(here, "src", "faces", "staff-api", "declaration.ts"),
      routes: join(here, "src", "faces", "staff-api", "routes.ts"),
      counter: join(here, "src", "faces", "counter", "app.ts"),
    },
    platform: "node",
    external: (id) => loaded.some((name) => id === name || id.startsWith(`${name}/`)),
  });
  const { output } = await program.write({ dir: join(here, "dist"), sourcemap: true, chunkFileNames: "[name].js" });
  writeFileSync(join(here, "dist", "licenses.md"), licencesOf(output.flatMap(({ moduleIds = [] }) => moduleIds)));
}

/** The licences of what is bundled ask for their texts. Throws if a package has none. */
function licencesOf(modules) {
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []);
  const texts = [...new Set(folders)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      if (file === undefined) throw new Error(`${name} has no licence file`);
      return `## ${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    });
  return `# Licences of packages in these files\n\n${texts.join("\n")}`;
}

/** Writes the types of an API unless they are the same, which would have the console built again. */
function declare(routes, path) {
  const text = declarationOf(routes);
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}

/** Whether the console is not built, or was before its sources were changed. */
function isStale() {
  const page = join(console, "dist-counter", "index.html");
  if (!existsSync(page)) return true;
  const builtAt = statSync(page).mtimeMs;
  const sources = readdirSync(join(console, "src"), { recursive: true }).map((name) => join("src", name));
  return ["index.html", "counter/index.html", "package.json", "vite.config.ts", ...sources].some(
    (name) => statSync(join(console, name)).mtimeMs > builtAt,
  );
}
