// Runs all checks on each pinned Node. `npm run test:nodes -- 26 http` runs single tests on one of them.
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { NODE_VERSIONS, nodeFolder } from "./node-binaries.mjs";

const args = process.argv.slice(2);
const known = Object.keys(NODE_VERSIONS);
const named = args.filter((arg) => known.includes(arg));
const patterns = args.filter((arg) => !known.includes(arg));

for (const major of named.length > 0 ? named : known) {
  const folder = join(nodeFolder(major), "bin");
  process.stdout.write(`\n==== Node ${NODE_VERSIONS[major].version}\n`);
  const env = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter) };
  const { status } = spawnSync(join(folder, "node"), ["scripts/check.mjs", ...patterns], { env, stdio: "inherit" });
  if (status === 0) continue;
  process.stderr.write(`Node ${NODE_VERSIONS[major].version}: failed\n`);
  process.exit(1);
}
