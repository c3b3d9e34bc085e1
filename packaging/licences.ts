import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Part, ROOT, read } from "./lock.ts";
import type { NodeFiles } from "./node-binary.ts";

const RULE = `\n${"-".repeat(78)}\n\n`;
const LICENCE = /^(?:licen[cs]e|copying|notice)/i;

/** The licences of topupd and of everything inside, for /usr/share/doc/topupd/copyright. */
export function copyright(parts: readonly Part[], node: NodeFiles): string {
  const head = `topupd is built from its own sources. Its licence comes first, then those of Node.js and of each npm package inside.\n\n`;
  const all = [
    `${head}${read("LICENSE").trim()}\n`,
    `Node.js ${node.version}\n\n${node.licence.trim()}\n`,
    ...parts.map(licenceOf),
  ];
  return all.join(RULE);
}

function licenceOf({ name, version, license = "", path }: Part): string {
  const texts = licenceTexts(path);
  if (license === "") throw new Error(`${path} names no licence`);
  return `${name} ${version}\nLicence: ${license}\n\n${texts.length === 0 ? authorOf(path) : texts.join("\n\n")}\n`;
}

function licenceTexts(path: string): string[] {
  if (!existsSync(join(ROOT, path))) throw new Error(`${path} is not installed: run npm ci`);
  const names = readdirSync(join(ROOT, path)).filter((name) => LICENCE.test(name) && !/\.(?:c?js|ts)$/.test(name));
  return names.sort().map((name) => read(`${path}/${name}`).replaceAll("\r\n", "\n").trim());
}

/** A package without a licence's text names its author. */
function authorOf(path: string): string {
  const { author } = JSON.parse(read(`${path}/package.json`)) as { author?: string | { readonly name: string } };
  return `Author: ${typeof author === "object" ? author.name : (author ?? "not named by the package")}`;
}
