import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { copyright } from "./licences.ts";
import { type Part, partsInside, ROOT, read } from "./lock.ts";
import { type Arch, NODE_ARCH, type NodeFiles } from "./node-binary.ts";
import { sbom } from "./sbom.ts";

/** The newest C library that the package may need. Its oldest system, Ubuntu 22.04, has 2.35. */
export const LIBC = "2.29";
export const PROGRAM = "/usr/lib/topupd";
const SOURCES_RUN = "/usr/bin/node /opt/topupd/packages/server/bin/topupd.js";

/** Files of npm packages that run. All others are sources, types, documents or tests. */
const RUNS = /\.(?:js|cjs|mjs|json|node)$/;
/** Pages of @fastify/swagger-ui. */
const IS_PAGE = /^static\//;
const IDLE_FOLDERS = /^(?:\..*|__tests__|(?:test|benchmark|example)s?|bench|docs|integration|scripts|node_modules)$/;

/** Puts into a folder what package and image share, as it lies below /: program, Node, licences, list of parts. */
export function makeTree(root: string, arch: Arch, node: NodeFiles, epoch: number): void {
  rmSync(root, { recursive: true, force: true });
  const program = join(root, PROGRAM);
  mkdirSync(program, { recursive: true });
  const parts = partsInside();
  cpSync(join(ROOT, "packages/server/bin"), join(program, "bin"), { recursive: true });
  cpSync(join(ROOT, "packages/server/dist"), join(program, "dist"), {
    recursive: true,
    // The licences are in the copyright file.
    filter: (path) => !path.endsWith(".map") && !path.endsWith("licenses.md"),
  });
  write(join(program, "package.json"), ownManifest());
  for (const part of parts) if (part.isInstalled) copyPart(part, program, arch);
  node.putInto(program);
  checkLibc(program);
  write(join(root, "usr/bin/topupd"), installedPaths(read("deploy/topupd.sh")), 0o755);
  write(join(root, "usr/share/doc/topupd/copyright"), copyright(parts, node));
  write(join(root, "usr/share/doc/topupd/sbom.cdx.json"), sbom(parts, node, arch, epoch));
  setModes(root);
}

/** A file of deploy/ with the package's paths in the place of those of the sources. */
export function installedPaths(text: string): string {
  const run = text.replaceAll(SOURCES_RUN, `${PROGRAM}/node ${PROGRAM}/bin/topupd.js`);
  return run.replace(/file:\/\/\/opt\/topupd\/\S+/g, "man:topupd(1)");
}

export function write(path: string, text: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** All files below a folder, sorted, by their path from it. */
export function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
}

function ownManifest(): string {
  const { name, version, type, license } = JSON.parse(read("packages/server/package.json"));
  return `${JSON.stringify({ name, version, type, license }, undefined, 2)}\n`;
}

function copyPart({ path }: Part, program: string, arch: Arch): void {
  const from = join(ROOT, path);
  const to = join(program, path.replace(/^packages\/server\//, ""));
  cpSync(from, to, {
    recursive: true,
    filter: (source) => {
      const place = relative(from, source);
      if (statSync(source).isDirectory()) return !IDLE_FOLDERS.test(place);
      if (place.endsWith(".node"))
        return place.startsWith(`prebuilds/linux-${NODE_ARCH[arch]}/`) && !/musl/.test(place);
      return RUNS.test(place) || (IS_PAGE.test(place) && !place.endsWith(".map"));
    },
  });
}

/** Files of a build have the modes of the machine that builds: these are of the package. */
function setModes(root: string): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isRun = entry.isDirectory() || /\/(?:bin\/topupd|topupd\/node)$/.test(path);
    chmodSync(path, isRun ? 0o755 : 0o644);
  }
}

function checkLibc(program: string): void {
  const binaries = filesBelow(program).filter((path) => path === "node" || path.endsWith(".node"));
  for (const path of binaries) {
    const text = readFileSync(join(program, path)).toString("latin1");
    const [minor = 0] = [...text.matchAll(/\0GLIBC_2\.(\d+)(?=\0)/g)]
      .map(([, each]) => Number(each))
      .sort((a, b) => b - a);
    if (minor > Number(LIBC.split(".")[1])) throw new Error(`${path} needs libc 2.${minor}: change LIBC`);
  }
}
