// `npm run package -- tree|deb|check [--arch amd64|arm64]`: what Dockerfile and Debian package have inside, the package,
// and its long check.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { check } from "./check.ts";
import { makeDeb } from "./deb.ts";
import { ROOT } from "./lock.ts";
import { type Arch, NODE_ARCH, nodeFiles } from "./node-binary.ts";
import { makeTree } from "./tree.ts";

const DIST = join(ROOT, "dist");
const { values, positionals } = parseArgs({ options: { arch: { type: "string" } }, allowPositionals: true });
const [what = ""] = positionals;
const { arch = Object.entries(NODE_ARCH).find(([, node]) => node === process.arch)?.[0] ?? "" } = values;
if (!["tree", "deb", "check"].includes(what) || !(arch in NODE_ARCH)) {
  process.stderr.write("usage: npm run package -- tree|deb|check [--arch amd64|arm64]\n");
  process.exit(2);
}
/** Seconds. The time of the last commit, so that each build of it has the same bytes. */
const epoch = Number(
  process.env["SOURCE_DATE_EPOCH"] ??
    execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: ROOT, encoding: "utf8" }),
);
const made = what === "check" ? await check(build, arch as Arch) : await build(DIST, what === "deb");
process.stdout.write(`${made}\n`);

async function build(into: string, isDeb = true): Promise<string> {
  const tree = join(into, `tree-${arch}`);
  makeTree(tree, arch as Arch, nodeFiles(arch as Arch), epoch);
  return isDeb ? makeDeb(tree, arch as Arch, epoch, into) : tree;
}
