import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, lutimesSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ROOT, read, VERSION } from "./lock.ts";
import { manual } from "./manual.ts";
import type { Arch } from "./node-binary.ts";
import { filesBelow, installedPaths, LIBC, write } from "./tree.ts";

const MAINTAINER = "topupd maintainers <maintainers@topupd.invalid>";
const EXAMPLE = "usr/share/doc/topupd/topupd.env.example";
const SCRIPTS = ["postinst", "prerm", "postrm"];

/**
 * Makes the Debian package of a tree. The same tree and time make the same bytes.
 * @param epoch seconds, the time of all files inside
 * @returns the path of the package
 */
export async function makeDeb(tree: string, arch: Arch, epoch: number, into: string, flags: string[] = []) {
  const root = join(into, `deb-${arch}`);
  rmSync(root, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  // Links instead of copies.
  execFileSync("cp", ["-al", tree, root]);
  const docs = join(root, "usr/share/doc/topupd");
  write(join(docs, "changelog.gz"), gzip(changelog(epoch)));
  write(join(root, "usr/share/man/man1/topupd.1.gz"), gzip(await manual(epoch)));
  write(join(root, "usr/share/lintian/overrides/topupd"), read("packaging/debian/lintian-overrides"));
  write(join(root, EXAMPLE), read("deploy/topupd.env.example"));
  write(join(root, "etc/topupd/topupd.env"), settings(), 0o600);
  for (const unit of units()) write(join(root, "usr/lib/systemd/system", unit), installedPaths(read(`deploy/${unit}`)));
  const files = filesBelow(root);
  const values = { VERSION, ARCH: arch, MAINTAINER, LIBC, UNITS: units().join(" "), SIZE: String(kibibytes(root)) };
  const fill = (text: string) => text.replace(/@(\w+)@/g, (_, name: keyof typeof values) => values[name]);
  const sums = files.filter((path) => !path.startsWith("etc/")).map((path) => `${md5(join(root, path))}  ${path}\n`);
  write(join(root, "DEBIAN/control"), fill(read("packaging/debian/control")));
  write(join(root, "DEBIAN/conffiles"), "/etc/topupd/topupd.env\n");
  write(join(root, "DEBIAN/md5sums"), sums.join(""));
  for (const name of SCRIPTS) write(join(root, "DEBIAN", name), fill(read(`packaging/debian/${name}`)), 0o755);
  setFolders(root, epoch);
  const deb = join(into, `topupd_${VERSION}_${arch}.deb`);
  // One thread, because xz with several divides the files otherwise.
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epoch), DPKG_DEB_THREADS_MAX: "1" };
  execFileSync("dpkg-deb", ["--root-owner-group", "-Zxz", ...flags, "--build", root, deb], { env, stdio: "pipe" });
  rmSync(root, { recursive: true });
  return deb;
}

/**
 * The settings of the package, which makes the folder of backups. The file has no examples: setup changes it, and an
 * upgrade that changes it too stops at a question of dpkg.
 */
function settings(): string {
  const all = read("deploy/topupd.env.example").replace(/^#(?=TOPUPD_BACKUP_FOLDER=)/m, "");
  const set = all.split("\n").filter((line) => line.startsWith("TOPUPD_"));
  return [`# Settings of topupd.service. /${EXAMPLE} explains all. Changes need a restart.`, ...set, ""].join("\n");
}

/** The units of deploy/. */
function units(): string[] {
  return readdirSync(join(ROOT, "deploy"))
    .filter((name) => /\.(?:service|timer)$/.test(name))
    .sort();
}

function changelog(epoch: number): string {
  const date = new Date(epoch * 1000).toUTCString().replace("GMT", "+0000");
  return `topupd (${VERSION}) unstable; urgency=medium\n\n  * Version ${VERSION}. CHANGELOG.md of the sources lists the changes.\n\n -- ${MAINTAINER}  ${date}\n`;
}

/** As `gzip -9n`, which stores neither name nor time. */
function gzip(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

function md5(path: string): string {
  return createHash("md5").update(readFileSync(path)).digest("hex");
}

/** The installed size as Debian counts it: whole KiB of each file, and one for all else. */
function kibibytes(root: string): number {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const sizes = entries.map((entry) =>
    entry.isFile() ? Math.ceil(lstatSync(join(entry.parentPath, entry.name)).size / 1024) : 1,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Sets the modes of folders, and one time for everything. */
function setFolders(root: string, epoch: number): void {
  const below = readdirSync(root, { recursive: true, withFileTypes: true });
  for (const entry of below) if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755);
  chmodSync(root, 0o755);
  for (const entry of below) lutimesSync(join(entry.parentPath, entry.name), epoch, epoch);
  lutimesSync(root, epoch, epoch);
}
