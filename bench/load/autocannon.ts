import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tool } from "../../packages/server/test/support/tools.ts";
import type { LoadGenerator, LoadResult } from "../load.ts";
import { runProgram } from "../programs.ts";

const SCRIPT = fileURLToPath(new URL("autocannon.mjs", import.meta.url));
const MANIFEST = tool("autocannon/package.json");

/** autocannon, a package of tools/: always there, but it needs more CPU for a request than many a server. */
export const autocannon: LoadGenerator = {
  name: "autocannon",
  version: async () => (JSON.parse(readFileSync(MANIFEST, "utf8")) as { version: string }).version,
  isInstalled: () => true,
  run: async ({ url, token, bodiesFile, connections, seconds }) => {
    const words = [SCRIPT, url, token, bodiesFile, String(connections), String(seconds)];
    return JSON.parse(await runProgram(process.execPath, words)) as LoadResult;
  },
};
