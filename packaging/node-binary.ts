import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_VERSIONS, nodeFolder } from "../scripts/node-binaries.mjs";

/** Debian's name of a processor, and Node's. */
export const NODE_ARCH = { amd64: "x64", arm64: "arm64" } as const;
export type Arch = keyof typeof NODE_ARCH;

const MAJOR = "24";

export interface NodeFiles {
  readonly version: string;
  /** The integrity of its npm package, as npm writes it. */
  readonly integrity: string;
  readonly licence: string;
  /** Writes the binary into a folder, as `node`. */
  readonly putInto: (folder: string) => void;
}

/** The Node.js of the package, as it is pinned. */
export function nodeFiles(arch: Arch): NodeFiles {
  const from = nodeFolder(MAJOR, NODE_ARCH[arch]);
  return {
    version: NODE_VERSIONS[MAJOR].version,
    integrity: NODE_VERSIONS[MAJOR][NODE_ARCH[arch]],
    licence: readFileSync(join(from, "LICENSE"), "utf8"),
    putInto: (folder) => {
      copyFileSync(join(from, "bin/node"), join(folder, "node"));
      strip(join(folder, "node"), arch);
    },
  };
}

/** Removes the symbols of a binary, if there is a tool for its processor. Without one, topupd is 17 MB larger. */
function strip(file: string, arch: Arch): void {
  const own = NODE_ARCH[arch] === process.arch ? ["strip"] : [];
  const tools = [...own, `${arch === "amd64" ? "x86_64" : "aarch64"}-linux-gnu-strip`];
  const isDone = tools.some((tool) => spawnSync(tool, [file]).status === 0);
  if (!isDone) process.stderr.write(`Node keeps its symbols: none of ${tools.join(", ")} is installed.\n`);
}
