import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { StoreRefused } from "../errors.ts";
import { flushAnew } from "./left-log.ts";
import { isBusy } from "./trouble.ts";

/*
 * SQLite finds the log of a database, and its index with the locks, beside the file, by the name of the file. Two processes
 * that have one file open by two names write two logs, and whatever is taken from either into the file spoils the other.
 */

/** Another process has the file open, and not by this log and index. Those that only begin or end soon are done with it. */
export class OpenElsewhere extends StoreRefused {}

/** How long others are tried past that have the file open only to find out the same. */
const TRYING_MS = 10;

/**
 * To be called before the file is opened, and not where this process has it open already. What a process has left in the
 * log, and nobody has taken up, is on the disk afterwards.
 * @throws StoreRefused where only the file is mounted, without its folder, or the file has a second name: two that begin at
 *   once by two names would not see each other.
 * @throws OpenElsewhere where others have the file open, and there is no telling by which log and index.
 */
export function refuseOtherNames(path: string): void {
  const file = realpathSync(path);
  if (isMountPoint(file, mounts()))
    throw new StoreRefused(
      `only the file ${file} is mounted, and not its folder, so that its log would not be kept beside it: mount the folder`,
    );
  if (statSync(file).nlink > 1)
    throw new StoreRefused(
      `the file ${file} has a second name, a hard link, by which another process could open it with a log of its own: remove one of the names (find / -xdev -samefile ${file})`,
    );
  const isAsLeft = existsSync(`${file}-wal`) && existsSync(`${file}-shm`);
  if (takesUpLog(file, isAsLeft ? TRYING_MS : 0) || isAsLeft) return;
  throw new OpenElsewhere(
    `another process has ${file} open by another name, or its -wal or -shm was removed: save what that process has open, and then stop it`,
  );
}

/**
 * Has the log flushed where nobody has the file open; others have taken it up otherwise. To exclude all others takes no
 * index, and so makes none for them to find.
 * @returns whether nobody has it open.
 */
function takesUpLog(file: string, timeout: number): boolean {
  const connection = new DatabaseSync(file, { timeout });
  try {
    connection.exec("PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_schema");
    // As long as the connection is open, nobody else is.
    flushAnew(`${file}-wal`);
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  } finally {
    connection.close();
  }
}

/** What is mounted where, as Linux tells it. Elsewhere, no single file can be mounted. */
function mounts(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return "";
  }
}

/** @param mounts in lines, whose fifth words are the places, with characters that would part words as octal numbers. */
export function isMountPoint(file: string, mounts: string): boolean {
  return mounts.split("\n").some((line) => {
    const place = line.split(" ")[4] ?? "";
    return place.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))) === file;
  });
}
