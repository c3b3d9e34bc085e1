import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { isatty } from "node:tty";
import { promisify } from "node:util";
import { CommandFailed } from "./failures.ts";
import type { FirstRunTools } from "./runtime.ts";
import { askOpenly } from "./terminal.ts";

/** User and group of the service. */
const SERVICE_USER = "topupd";
/** The folder exists if systemd is the first process. */
const SYSTEMD = "/run/systemd/system";
/** Files of the service are for its user only. */
const OWN_UMASK = 0o077;

/** @param own the process. */
export function firstRunTools(own: NodeJS.Process): FirstRunTools {
  const isRoot = own.geteuid?.() === 0;
  return {
    ask: isatty(0) ? (question) => askOpenly(question, own.stdin, own.stderr) : undefined,
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    hasSystemd: isRoot && existsSync(SYSTEMD),
    async startService() {
      await promisify(execFile)("systemctl", ["enable", "--now", "topupd"]).catch((error: Error) => {
        throw new CommandFailed(`the service did not start: ${error.message.trim()}`);
      });
    },
    async asServiceUser(work) {
      const groups = own.getgroups?.() ?? [];
      if (!isRoot || !becomeServiceUser(own)) return work();
      const umask = own.umask(OWN_UMASK);
      try {
        return await work();
      } finally {
        own.umask(umask);
        own.seteuid?.(0);
        own.setegid?.(0);
        own.setgroups?.(groups);
      }
    },
  };
}

/** @returns false if there is no such user. */
function becomeServiceUser(own: NodeJS.Process): boolean {
  try {
    own.setgroups?.([SERVICE_USER]);
    own.setegid?.(SERVICE_USER);
    own.seteuid?.(SERVICE_USER);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_UNKNOWN_CREDENTIAL") return false;
    throw error;
  }
}
