import { fileURLToPath } from "node:url";

/** The path of a file of the package. Works from `src` and from `dist`, since the build puts every chunk at the top of `dist`. */
export function packageFile(name: string): string {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}
