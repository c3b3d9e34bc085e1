#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";

const TOO_FEW_FILES = {
  EMFILE:
    "raise the limit of this process to 1024 or more, by `ulimit -n`, LimitNOFILE in a systemd unit, or --ulimit nofile in a container; each connection takes one more",
  ENFILE: "the whole machine has no more of them; close some, or raise fs.file-max",
};

/** What loading takes at one time, and some more. */
const FILES_TO_LOAD = 200;

/**
 * Whatever file Node cannot open while it looks for a package, it takes for one that is not there: so too few of them have
 * many names.
 */
function codeOf(error) {
  if (TOO_FEW_FILES[error?.code] !== undefined) return error.code;
  try {
    const [, most] = /^Max open files +(\d+) /m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return Number(most) < FILES_TO_LOAD ? "EMFILE" : undefined;
  } catch (notRead) {
    return notRead.code;
  }
}

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) {
  try {
    await import(main.href);
  } catch (error) {
    // As main.ts throws it too. Said here, where nothing more has to be loaded to say it.
    const remedy = TOO_FEW_FILES[codeOf(error)];
    if (remedy === undefined) throw error;
    process.stderr.write(`topupd: no more files can be opened: ${remedy}\n`);
    process.exitCode = 1;
  }
} else {
  process.stderr.write("topupd is not built yet: run `npm run build` in the repository first.\n");
  process.exitCode = 1;
}
