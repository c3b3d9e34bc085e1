// Everything that must hold before a change lands, in the order in which it fails fastest.
// `npm test -- NAME` hands what follows to the test runner, after the same build.
import { spawnSync } from "node:child_process";
import { delimiter, resolve } from "node:path";

const patterns = process.argv.slice(2);
const tools = ["tools", "node", ["scripts/install-tools.mjs"]];
const build = ["build", "npm", ["run", "--silent", "build"]];
const tests = ["tests", "vitest", ["run", ...patterns]];
const all = [
  tools,
  build,
  ["types", "tsc", ["-p", "tsconfig.json"]],
  ["console types", "tsc", ["-p", "packages/console/tsconfig.json"]],
  ["format and lint", "biome", ["ci", "--error-on-warnings", "--colors=off"]],
  ["promises", "oxlint", ["--type-aware", "--deny-warnings", "packages", "bench", "scripts/collections"]],
  ["dead code", "knip", []],
  tests,
];

process.env.PATH = [resolve("tools/node_modules/.bin"), process.env.PATH].join(delimiter);
for (const [title, command, args] of patterns.length === 0 ? all : [tools, build, tests]) {
  process.stdout.write(`\n== ${title}: ${command} ${args.join(" ")}\n`);
  const { status, error } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
  if (error !== undefined) throw error;
  if (status !== 0) {
    process.stderr.write(`\n${title}: failed\n`);
    process.exit(1);
  }
}
