import { fileURLToPath } from "node:url";

/** The path of what belongs to a package of tools/, which `npm test` installs beside the packages of the workspace. */
export function tool(path: string): string {
  return fileURLToPath(new URL(`../../../../tools/node_modules/${path}`, import.meta.url));
}
