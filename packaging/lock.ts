import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../", import.meta.url));
export const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
export const { version: VERSION } = JSON.parse(read("package.json")) as { version: string };

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** An npm package inside. */
export interface Part extends Locked {
  readonly name: string;
  /** Its folder, from the root of the repository. */
  readonly path: string;
  /** Whether its files are installed. All others are inside the built files only. */
  readonly isInstalled: boolean;
  /** The folders of its dependencies. */
  readonly needs: readonly string[];
}

const { packages: LOCKED } = JSON.parse(read("package-lock.json")) as {
  readonly packages: Readonly<Record<string, Locked>>;
};
const SERVER = "packages/server";
/** The console's packages that only build it. */
const ONLY_BUILDS = /^(?:@types\/|vite$)/;

/** All npm packages inside, as the lock file names them, by path: those that the built program imports are installed. */
export function partsInside(): Part[] {
  const built = readdirSync(join(ROOT, SERVER, "dist")).filter((name) => name.endsWith(".js"));
  const program = built.map((name) => read(`${SERVER}/dist/${name}`)).join("\n");
  const isImported = (name: string) => program.includes(`"${name}"`) || program.includes(`"${name}/`);
  const names = Object.keys(LOCKED[SERVER]?.dependencies ?? {});
  const installed = closure(SERVER, names.filter(isImported));
  const ofConsole = Object.keys(LOCKED["packages/console"]?.devDependencies ?? {});
  const others = [
    ...closure(SERVER, names),
    ...closure(
      "packages/console",
      ofConsole.filter((name) => !ONLY_BUILDS.test(name)),
    ),
  ];
  return [...new Set([...installed, ...others])].sort().map((path) => partAt(path, installed.has(path)));
}

function partAt(path: string, isInstalled: boolean): Part {
  const locked = LOCKED[path] as Locked;
  const found = JSON.parse(read(`${path}/package.json`)) as { readonly version: string };
  if (found.version !== locked.version)
    throw new Error(`${path} is ${found.version}, the lock file names ${locked.version}: run npm ci`);
  const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
  return { ...locked, name, path, isInstalled, needs: neededBy(path) };
}

/** The folders of packages and of all that they need. */
function closure(from: string, names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const add = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    neededBy(path).forEach(add);
  };
  for (const name of names) add(folderOf(from, name) ?? missing(name));
  return found;
}

function neededBy(path: string): string[] {
  const { dependencies = {}, optionalDependencies = {} } = LOCKED[path] ?? {};
  const optional = Object.keys(optionalDependencies).map((name) => folderOf(path, name));
  return [
    ...Object.keys(dependencies).map((name) => folderOf(path, name) ?? missing(name)),
    ...optional.filter((folder): folder is string => folder !== undefined && existsSync(join(ROOT, folder))),
  ];
}

/** The folder that Node finds: the nearest one above. */
function folderOf(from: string, name: string): string | undefined {
  for (let place = from; ; place = place.slice(0, place.lastIndexOf("/node_modules/"))) {
    if (LOCKED[`${place}/node_modules/${name}`] !== undefined) return `${place}/node_modules/${name}`;
    if (!place.includes("/node_modules/")) break;
  }
  return LOCKED[`node_modules/${name}`] === undefined ? undefined : `node_modules/${name}`;
}

function missing(name: string): never {
  throw new Error(`the lock file lacks ${name}`);
}
