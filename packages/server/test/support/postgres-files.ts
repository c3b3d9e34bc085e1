import { chmodSync, cpSync, existsSync, lchownSync, lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * Copies the PostgreSQL of an npm package into a server's own folder. It cannot run where npm puts it: packages hold no
 * links, an install script would make those to its libraries, and install scripts are off. Root's packages may also be
 * closed to the user that runs the server. A copy for all servers would save less than half a second, and would have to
 * be guarded against other users and against what clears old files away.
 *
 * @returns the folder that holds `bin`.
 */
export function copyEmbedded(packageFolder: string, folder: string): string {
  const native = join(folder, "native");
  cpSync(join(packageFolder, "native"), native, {
    recursive: true,
    filter: (path) => !path.endsWith(".a") && !lstatSync(path).isSymbolicLink(),
  });
  for (const { source, target } of linksOf(native)) {
    symlinkSync(relative(dirname(target), source), join(folder, target));
  }
  for (const program of readdirSync(join(native, "bin"))) chmodSync(join(native, "bin", program), 0o755);
  return native;
}

/** By their paths in the package, which has no list for a platform without links. */
function linksOf(native: string): { readonly source: string; readonly target: string }[] {
  const list = join(native, "pg-symlinks.json");
  return existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
}

/** Makes a user the owner of a folder and all that is in it, so that no umask of root's can keep it out. */
export function giveTo({ uid, gid }: { readonly uid?: number; readonly gid?: number }, folder: string): void {
  if (uid === undefined || gid === undefined) return;
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const path of ["", ...paths]) lchownSync(join(folder, path), uid, gid);
}
