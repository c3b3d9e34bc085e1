import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SETTINGS } from "../../src/config.ts";

export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** A file of the repository. */
export function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

/** The lines of an environment file that set something. */
export function assignments(text: string): [name: string, value: string][] {
  return [...text.matchAll(/^([A-Z0-9_]+)=('?)(.*)\2$/gm)].map(([, name = "", , value = ""]) => [name, value]);
}

/** How long a process with these settings may take to stop. */
export function stopSeconds(env: Readonly<Record<string, string>>): number {
  return [SETTINGS.drainSeconds, SETTINGS.shutdownSeconds]
    .map((setting) => Number(env[setting.env] ?? setting.fallback))
    .reduce((sum, seconds) => sum + seconds);
}
