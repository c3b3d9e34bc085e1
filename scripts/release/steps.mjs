// The steps before a release. Each throws if it finds a problem.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { versionProblems } from "./versions.mjs";

const PUBLISHED = ["topupd", "@topupd/client", "@topupd/conformance"];
const ARCHITECTURES = ["amd64", "arm64"];
const COUNTS = ["docs/reliability.json", "docs/reliability.md"];
const DEMO_TIMEOUT_MS = 120_000;

/** Names and functions in order. Each function is called with the version, in the root of the sources. */
export const STEPS = {
  tree: () => {
    const changed = output("git", ["status", "--porcelain"]).trim();
    if (changed !== "") throw new Error(`commit these files first:\n${changed}`);
  },
  version: (version) => {
    const problems = versionProblems(".", version);
    if (problems.length > 0) throw new Error(`set the version, then run npm install:\n${problems.join("\n")}`);
  },
  nodes: () => run("npm", ["run", "test:nodes"]),
  campaigns: (version) => {
    run("npm", ["run", "campaign", "--", "all", "--minutes", "5"]);
    // The packages are made from a commit: the new counts must be in it.
    run("git", ["commit", "--quiet", "--message", `Count the campaigns of ${version}`, "--", ...COUNTS]);
  },
  bench: () => run("npm", ["run", "bench", "--", "--rounds", "1"]),
  npm: () => {
    for (const name of PUBLISHED) dryRun(name);
  },
  install: (version) => inFolder((folder) => installAndRun(folder, version)),
  clients: async () => {
    run("composer", ["validate", "--strict", "--no-interaction"], { cwd: "clients/php" });
    await inFolder(async (folder) => {
      cpSync("clients/python", folder, { recursive: true });
      const told = output("python3", ["-m", "build"], { cwd: folder });
      if (/deprecat/i.test(told)) throw new Error(told);
    });
  },
  packages: () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
    if (scripts.package === undefined) throw new Error('package.json has no script "package"');
    for (const architecture of ARCHITECTURES) run("npm", ["run", "package", "--", "deb", "--arch", architecture]);
  },
};

/** What a person runs to publish, after all steps have passed. */
export function publishCommands(version) {
  return [
    `git tag v${version}`,
    `git push origin HEAD v${version}`,
    ...PUBLISHED.map((name) => `npm publish --workspace ${name}`),
    "cd clients/python && python3 -m build && python3 -m twine upload dist/*",
    `git subtree split --prefix clients/php  # push it to the repository of topupd/client, with the tag v${version}`,
  ];
}

/** npm's own warnings are problems, except that a dry run needs no login. */
export function warningsIn(text) {
  return text.split("\n").filter((line) => /^npm (?:warn|error)/i.test(line) && !line.includes("to be logged in"));
}

function dryRun(name) {
  const told = output("npm", ["publish", "--dry-run", "--workspace", name]);
  const warnings = warningsIn(told);
  if (warnings.length > 0) throw new Error(`npm publish of ${name} warns:\n${warnings.join("\n")}`);
}

/** As a stranger does it: the packed server in an empty folder, with its dependencies from the registry. */
async function installAndRun(folder, version) {
  output("npm", ["pack", "--workspace", "topupd", "--pack-destination", folder]);
  output("npm", ["install", `./topupd-${version}.tgz`], { cwd: folder });
  const told = output("npx", ["--no", "--", "topupd", "--version"], { cwd: folder }).trim();
  if (told !== version) throw new Error(`topupd --version says ${told}`);
  await demoStarts(folder);
}

/** Starts the demo, waits for its access token, and stops it. */
async function demoStarts(folder) {
  const ports = ["--port", "0", "--console-port", "0", "--counter-port", "0"];
  const demo = spawn(process.execPath, ["node_modules/topupd/bin/topupd.js", "demo", ...ports], { cwd: folder });
  let told = "";
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`topupd demo is not ready in time:\n${told}`)), DEMO_TIMEOUT_MS);
    const hear = (piece) => {
      told += piece;
      if (/^TOKEN=/m.test(told)) resolve();
    };
    demo.stdout.on("data", hear);
    demo.stderr.on("data", hear);
    demo.once("error", reject);
    demo.once("close", () => {
      clearTimeout(timer);
      reject(new Error(`topupd demo ended:\n${told}`));
    });
  }).finally(() => demo.kill("SIGTERM"));
  await new Promise((resolve) => (demo.exitCode === null ? demo.once("close", resolve) : resolve()));
}

/** Calls a function with a temporary folder, which is then deleted. */
async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "topupd-release-"));
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Shows what the program says. */
function run(program, args, { cwd } = {}) {
  const { status, error } = spawnSync(program, args, { cwd, stdio: "inherit" });
  if (status !== 0) throw error ?? new Error(`${program} ${args.join(" ")} failed`);
}

/** @returns what the program says on both streams. */
function output(program, args, { cwd } = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw error ?? new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout + stderr;
}
