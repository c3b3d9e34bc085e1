import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SERVER = fileURLToPath(new URL("../", import.meta.url));

/** A text of the built program, and what is put in its place. */
export type Plant = readonly [text: string, instead: string];

/**
 * Copies the built program to a new folder, with faults planted.
 * @returns the path of its program. @throws Error unless each text is found exactly once.
 */
export function plantedProgram(folder: string, plants: readonly Plant[]): string {
  mkdirSync(folder);
  cpSync(join(SERVER, "bin"), join(folder, "bin"), { recursive: true });
  cpSync(join(SERVER, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(SERVER, "package.json"), join(folder, "package.json"));
  // Dependencies are found as from the program itself: first those of its own folder, then those of the workspace.
  symlinkSync(join(SERVER, "node_modules"), join(folder, "dist", "node_modules"));
  symlinkSync(join(SERVER, "../../node_modules"), join(folder, "node_modules"));
  const files = readdirSync(join(folder, "dist")).filter((name) => name.endsWith(".js"));
  for (const [text, instead] of plants) {
    const found = files
      .map((name) => join(folder, "dist", name))
      .filter((path) => readFileSync(path, "utf8").includes(text));
    const [path, ...others] = found;
    const pieces = path === undefined ? [] : readFileSync(path, "utf8").split(text);
    if (path === undefined || others.length > 0 || pieces.length !== 2)
      throw new Error(`the program must contain this text exactly once: ${text}`);
    writeFileSync(path, pieces.join(instead));
  }
  return join(folder, "bin", "topupd.js");
}
