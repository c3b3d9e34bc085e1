#!/usr/bin/env node
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await (await import(main.href)).main();
else {
  process.stderr.write("conformance is not built yet: run `npm run build` in the repository first.\n");
  process.exitCode = 1;
}
