import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenFiles } from "./metrics/process-figures.ts";

/**
 * How many files and sockets this process has open, and may have, as Linux tells.
 * @returns undefined where there is no such system, it does not say, or there is no limit.
 */
export function countOpenFiles(folder = "/proc/self"): OpenFiles | undefined {
  try {
    // The folder itself is open while it is read.
    const open = readdirSync(join(folder, "fd")).length - 1;
    const most = Number(/^Max open files +(\d+) /m.exec(readFileSync(join(folder, "limits"), "utf8"))?.[1]);
    return Number.isNaN(most) ? undefined : { open, most };
  } catch {
    return undefined;
  }
}
