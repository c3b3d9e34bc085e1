import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/*
 * What must be gone when the bench is, however it ends: by itself, by an error, or by Ctrl-C. All of it can be done at
 * once and without waiting, since a process that exits waits for nothing.
 */

const children = new Set<ChildProcess>();
const folders = new Set<string>();

process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) remove(folder);
});
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.once(signal, () => process.exit(code));
}

/** Ends a child together with the bench. */
export function guard<Child extends ChildProcess>(child: Child): Child {
  children.add(child);
  child.once("close", () => children.delete(child));
  return child;
}

/** A folder among the temporary ones, for as long as the bench runs. */
export function temporaryFolder(purpose: string): string {
  const folder = mkdtempSync(join(tmpdir(), `topupd-bench-${purpose}-`));
  folders.add(folder);
  return folder;
}

/** Removes what {@link temporaryFolder} made before the end. */
export function removeFolder(folder: string): void {
  remove(folder);
  folders.delete(folder);
}

/** A child that has just been killed may still be writing there. */
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
