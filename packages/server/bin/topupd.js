#!/usr/bin/env node
import { existsSync } from "node:fs";

const TOO_FEW_FILES = {
  EMFILE:
    "raise the limit of this process to 1024 or more, by `ulimit -n`, LimitNOFILE in a systemd unit, or --ulimit nofile in a container; each connection takes one more",
  ENFILE: "the whole machine has no more of them; close some, or raise fs.file-max",
};

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) {
  try {
    await import(main.href);
  } catch (error) {
    // As main.ts throws it too. Said here, where nothing more has to be loaded to say it.
    const remedy = TOO_FEW_FILES[error?.code];
    if (remedy === undefined) throw error;
    process.stderr.write(`topupd: no more files can be opened: ${remedy}\n`);
    process.exitCode = 1;
  }
} else {
  process.stderr.write("topupd is not built yet: run `npm run build` in the repository first.\n");
  process.exitCode = 1;
}
