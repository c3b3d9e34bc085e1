// Finds the files that do not have the version of a release. Changes nothing.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A version in a README: that of a tarball. */
const TARBALL = /\btopupd(?:-\w+)?-(\d+\.\d+\.\d+)\.tgz/g;
const READMES = ["README.md", ...["server", "client", "conformance"].map((name) => `packages/${name}/README.md`)];

/**
 * @param root folder of the sources.
 * @returns one line for each place that is wrong, in the order of the files. Empty: all have the version.
 */
export function versionProblems(root, version) {
  const read = (path) => readFileSync(join(root, path), "utf8");
  const manifests = [
    "package.json",
    ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/package.json`),
  ];
  const found = [
    ...manifests.flatMap((path) => inManifest(path, JSON.parse(read(path)))),
    ...inLock(JSON.parse(read("package-lock.json"))),
    ...inText("clients/python/pyproject.toml", read, /^version = "(.*)"$/m),
    ...inText("clients/python/topupd_client/__init__.py", read, /^__version__ = "(.*)"$/m),
    ...READMES.flatMap((path) => inText(path, read, TARBALL)),
  ];
  const wrong = found.filter(([, other]) => other !== version);
  return [
    ...wrong.map(([place, other]) => `${place} has ${other ?? "no version"}`),
    ...changelogProblems(read("CHANGELOG.md"), version),
  ];
}

function inManifest(path, { version, dependencies, devDependencies }) {
  const own = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => name.startsWith("@topupd/"));
  return [[path, version], ...own.map(([name, wanted]) => [`${path}: ${name}`, wanted])];
}

function inLock({ version, packages }) {
  const own = Object.entries(packages).filter(([path]) => path === "" || /^packages\/[^/]+$/.test(path));
  return [
    ["package-lock.json", version],
    ...own.flatMap(([path, manifest]) => inManifest(`package-lock.json: ${path || "root"}`, manifest)),
  ];
}

function inText(path, read, form) {
  const text = read(path);
  const versions = form.global ? [...text.matchAll(form)].map((match) => match[1]) : [form.exec(text)?.[1]];
  return (versions.length > 0 ? versions : [undefined]).map((version) => [path, version]);
}

/** The newest section must be that of the version, with its date, and nothing may be unreleased. */
export function changelogProblems(text, version) {
  const [newest = "no section"] = [...text.matchAll(/^## (.*)$/gm)].map((match) => match[1]);
  const [, named, date] = /^\[(.+)\] - (\d{4}-\d{2}-\d{2})$/.exec(newest) ?? [];
  if (named === version && !Number.isNaN(Date.parse(date))) return [];
  return [`CHANGELOG.md begins with "${newest}", not with "[${version}] - YYYY-MM-DD"`];
}
