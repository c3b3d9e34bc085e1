#!/usr/bin/env node
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  process.stderr.write("topupd is not built yet: run `npm run build` in the repository first.\n");
  process.exitCode = 1;
}
