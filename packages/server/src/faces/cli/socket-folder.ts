import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CommandFailed } from "./runtime.ts";

/** In bytes, for the system takes sockets with paths of up to about a hundred. */
const LONGEST_PLACE = 70;
const NAME = /^topupd-(\d+)-\w{6}$/;

export interface SocketFolderOptions {
  /** Where temporary files are. */
  readonly place: string;
  /** Of this process. */
  readonly pid: number;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * Makes the folder for the settler's socket, and removes those of supervisors that were killed. A folder stays if another
 * process has its supervisor's number by now, until that one has ended too.
 * @throws CommandFailed where there can be none, or where the path of a socket in it would be cut short.
 */
export function makeSocketFolder({ place, pid, isRunning }: SocketFolderOptions): string {
  if (Buffer.byteLength(place) > LONGEST_PLACE) throw new CommandFailed(`TMPDIR is too long a path: ${place}`);
  try {
    for (const name of readdirSync(place)) {
      const owner = Number(NAME.exec(name)?.[1] ?? Number.NaN);
      // In a container, a killed supervisor often had the number that this one has.
      if (owner === pid || (owner > 0 && !isRunning(owner))) removeFolder(join(place, name));
    }
    return mkdtempSync(join(place, `topupd-${pid}-`));
  } catch (error) {
    throw new CommandFailed(`no folder can be made in ${place}: ${(error as Error).message}. Name another in TMPDIR`);
  }
}

function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It is another user's.
  }
}
