// Fetches the pinned binaries of Node. Packages of topupd are built with the same pins.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const CACHE = fileURLToPath(new URL("../node_modules/.cache/node/", import.meta.url));

/** Major version → version, and the integrity of npm's node-linux-ARCH for each `arch` (`x64`, `arm64`). */
export const NODE_VERSIONS = JSON.parse(readFileSync(new URL("node-versions.json", import.meta.url), "utf8"));

/**
 * Downloads a Node for Linux, unless it is in the cache.
 * @param major A key of `NODE_VERSIONS`.
 * @returns the folder of its `bin/node` and `LICENSE`. Throws if the download is not what is pinned.
 */
export function nodeFolder(major, arch = process.arch) {
  const { version, [arch]: integrity } = NODE_VERSIONS[major];
  const folder = join(CACHE, `${version}-${arch}`);
  if (existsSync(folder)) return folder;
  const download = mkdtempSync(join(tmpdir(), "topupd-node-"));
  try {
    const name = `node-linux-${arch}`;
    execFileSync("npm", ["pack", "--silent", "--pack-destination", download, `${name}@${version}`], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const tarball = join(download, `${name}-${version}.tgz`);
    verify(tarball, integrity);
    execFileSync("tar", ["-xzf", tarball, "-C", download, "package/bin/node", "package/LICENSE"]);
    mkdirSync(dirname(folder), { recursive: true });
    execFileSync("cp", ["-r", join(download, "package"), `${folder}.part`]);
    renameSync(`${folder}.part`, folder);
  } finally {
    rmSync(download, { recursive: true, force: true });
  }
  return folder;
}

/** Throws if a file does not have a subresource integrity (`sha512-...`). */
export function verify(path, integrity) {
  const [algorithm] = integrity.split("-", 1);
  const found = `${algorithm}-${createHash(algorithm).update(readFileSync(path)).digest("base64")}`;
  if (found !== integrity) throw new Error(`${path}: integrity is ${found}, but ${integrity} is pinned`);
}
