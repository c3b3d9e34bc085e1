import { fileURLToPath } from "node:url";

/** The path of a file of the package, from `src` as from `dist`: the build puts every chunk at the top of `dist`. */
export function packageFile(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}
