// All checks before a change lands, the fastest first.
// `npm test -- NAME` builds, and passes its arguments to the test runner.
import { spawn } from "node:child_process";
import { delimiter, resolve } from "node:path";

const patterns = process.argv.slice(2);
const tools = ["tools", "node", ["scripts/install-tools.mjs"]];
const build = ["build", "npm", ["run", "--silent", "build"]];
const looks = [
  ["types", "tsc", ["-p", "tsconfig.json"]],
  ["console types", "tsc", ["-p", "packages/console/tsconfig.json"]],
  ["format and lint", "biome", ["ci", "--error-on-warnings", "--colors=off"]],
  ["promises", "oxlint", ["--type-aware", "--deny-warnings", "packages", "bench", "scripts/collections"]],
  ["dead code", "knip", []],
];
const tests = ["tests", "vitest", ["run", ...patterns]];

process.env.PATH = [resolve("tools/node_modules/.bin"), process.env.PATH].join(delimiter);
await run(tools);
await run(build);
// Side by side: none of them writes anything.
if (patterns.length === 0) await Promise.all(looks.map((look) => run(look, "pipe")));
await run(tests);

/** @param output `pipe`: what it says is shown together, once it has ended. */
async function run([title, command, args], output = "inherit") {
  const head = `\n== ${title}: ${command} ${args.join(" ")}\n`;
  if (output === "inherit") process.stdout.write(head);
  const child = spawn(command, args, { stdio: ["ignore", output, output], shell: process.platform === "win32" });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (piece) => said.push(piece));
  const status = await new Promise((ended, failed) => child.once("error", failed).once("close", ended));
  if (output === "pipe") process.stdout.write(Buffer.concat([Buffer.from(head), ...said]));
  if (status === 0) return;
  process.stderr.write(`\n${title}: failed\n`);
  process.exit(1);
}
