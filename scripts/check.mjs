// All checks before a change lands: the tests, and beside them, with what time they leave, all that writes nothing.
// `npm test -- NAME` passes its arguments to the test runner, which installs and builds what the chosen tests need.
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { delimiter, resolve } from "node:path";

const patterns = process.argv.slice(2);
const tools = ["tools", "node", ["scripts/install-tools.mjs"]];
const build = ["build", "npm", ["run", "--silent", "build"]];
const looks = [
  ["types", "tsc", ["-p", "tsconfig.json"]],
  ["console types", "tsc", ["-p", "packages/console/tsconfig.json"]],
  ["format and lint", "biome", ["ci", "--error-on-warnings", "--colors=off"]],
  ["promises", "oxlint", ["--type-aware", "--deny-warnings", "packages", "bench", "packaging", "scripts/collections"]],
  ["dead code", "knip", []],
];
const tests = ["tests", "vitest", ["run", ...patterns]];

// Words of paths come first, then options. Without such words, any file may run.
const firstOption = patterns.findIndex((word) => word.startsWith("-"));
const files = firstOption === -1 ? patterns : patterns.slice(0, firstOption);
process.env.TEST_FILES = files.join(" ");
process.env.PATH = [resolve("tools/node_modules/.bin"), process.env.PATH].join(delimiter);
const running = new Set();
if (files.length === 0) {
  await run(tools);
  await run(build);
}
await Promise.all([run(tests), ...(patterns.length === 0 ? looks.map((look) => run(look, "beside")) : [])]);

/** @param how `beside`: with lower priority, and what it says is shown together, once it has ended. */
async function run([title, command, args], how = "first") {
  const isBeside = how === "beside";
  const head = `\n== ${title}: ${command} ${args.join(" ")}\n`;
  if (!isBeside) process.stdout.write(head);
  const output = isBeside ? "pipe" : "inherit";
  const child = spawn(command, args, { stdio: ["ignore", output, output], shell: process.platform === "win32" });
  running.add(child);
  if (isBeside && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (piece) => said.push(piece));
  const status = await new Promise((ended, failed) => child.once("error", failed).once("close", ended));
  running.delete(child);
  if (isBeside) process.stdout.write(Buffer.concat([Buffer.from(head), ...said]));
  if (status === 0) return;
  process.stderr.write(`\n${title}: failed\n`);
  for (const other of running) other.kill();
  process.exit(1);
}
