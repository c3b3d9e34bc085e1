import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { VERSION } from "./lock.ts";
import { type Arch, NODE_ARCH } from "./node-binary.ts";

const MOST_INSTALLED_KIB = 190 * 1024;
const MOST_START_MS = 1_500;
const MOST_FIRST_TOP_UP_MS = 300_000;
const PORT = 18_080;
const BASE = `http://127.0.0.1:${PORT}/staging/api/third-party/v1.0.1`;
const DEBIANS = ["bookworm", "trixie"];
const SETUP = "setup --yes --no-start --time-zone Asia/Kathmandu --currency NPR --partner Bank --trial-token";

/** The long check of a package: two builds with one hash, lintian, and a life in an empty Debian: installed, used, purged. */
export async function check(build: (into: string) => Promise<string>, arch: Arch): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "topupd-package-"));
  try {
    const [deb, again] = [await build(join(folder, "1")), await build(join(folder, "2"))];
    const [hash, other] = [deb, again].map((path) => createHash("sha256").update(readFileSync(path)).digest("hex"));
    if (hash !== other) throw new Error(`two builds differ: ${hash} and ${other}`);
    say(`two builds: sha256 ${hash}`);
    const kib = Number(execFileSync("dpkg-deb", ["--field", deb, "Installed-Size"], { encoding: "utf8" }));
    if (kib > MOST_INSTALLED_KIB) throw new Error(`installed size: ${kib} KiB, more than ${MOST_INSTALLED_KIB}`);
    say(`installed size: ${kib} KiB`);
    if (isThere("lintian")) run("lintian", "--fail-on", "error,warning", "--display-info", deb);
    const isOwn = NODE_ARCH[arch] === process.arch;
    if (isOwn && process.getuid?.() === 0 && isThere("debootstrap"))
      for (const suite of DEBIANS) await live(suite, join(folder, suite), deb);
    else say("no life in an empty Debian: that needs root, debootstrap and the same processor");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return "checked";
}

/** Installs the package in an empty Debian, uses it, and purges it. */
async function live(suite: string, root: string, deb: string): Promise<void> {
  run("debootstrap", "--variant=minbase", "--include=adduser", suite, root);
  const inside = (...words: string[]) => execFileSync("chroot", [root, ...words], { encoding: "utf8" });
  cpSync(deb, join(root, basename(deb)));
  const startedAt = performance.now();
  say(inside("dpkg", "-i", `/${basename(deb)}`));
  expect("topupd --version", inside("topupd", "--version").trim(), VERSION);
  if (existsSync(join(root, "etc/systemd/system/multi-user.target.wants/topupd.service")))
    throw new Error("the service is enabled before its setup");
  // Catalogue and customers are left for later, so the exit code is not 0.
  const [token = ""] = /^topup_trial_\w+$/m.exec(inside("sh", "-c", `topupd ${SETUP} || [ $? = 3 ]`)) ?? [];
  await firstAnswer(root, () => topUp(token));
  const ms = Math.round(performance.now() - startedAt);
  say(`from an empty ${suite} to a partner's first top-up: ${(ms / 1000).toFixed(1)} s, without the person`);
  if (ms > MOST_FIRST_TOP_UP_MS) throw new Error(`the first top-up took more than ${MOST_FIRST_TOP_UP_MS} ms`);
  say(inside("topupd", "check"));
  expect("owner of the database", inside("stat", "-c", "%U %a", "/var/lib/topupd/topupd.db").trim(), "topupd 600");
  const starts = [await firstAnswer(root), await firstAnswer(root), await firstAnswer(root)];
  say(`first answer: ${starts.join(", ")} ms after the start`);
  if (Math.min(...starts) > MOST_START_MS) throw new Error(`no start answers within ${MOST_START_MS} ms`);
  say(inside("dpkg", "--purge", "topupd"));
  if (!existsSync(join(root, "var/lib/topupd/topupd.db"))) throw new Error("purge deleted the database");
  if (existsSync(join(root, "etc/topupd"))) throw new Error("purge left /etc/topupd");
}

/** A partner's listing and top-up, as the partner guide has them. */
async function topUp(token: string): Promise<void> {
  const call = async (operation: string, more: object) => {
    const body = JSON.stringify({ cuid: "1000001", service: "internet", reqId: "trial1", ...more });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return (await fetch(`${BASE}/${operation}`, { method: "POST", headers, body })).text();
  };
  const [, checkoutId] = /"checkoutId":"([^"]+)"/.exec(await call("get-subscription-package", {})) ?? [];
  const more = { checkoutId, bouquetId: "TRIAL-NET-3M", amt: "3220" };
  const [, status = ""] = /"status":"(\w+)"/.exec(await call("subscription-package-topup", more)) ?? [];
  expect("top-up of a partner", status, "success");
}

/** Starts the service, uses it and stops it. @returns milliseconds until it is ready. */
async function firstAnswer(root: string, use = async (): Promise<void> => {}): Promise<number> {
  const startedAt = performance.now();
  const service = spawn("chroot", [root, "topupd", "serve", "--port", String(PORT)], { stdio: "ignore" });
  const ended = new Promise((resolve) => service.once("exit", resolve));
  try {
    while (!(await fetch(`http://127.0.0.1:${PORT}/readyz`).catch(() => undefined))?.ok) {
      if (service.exitCode !== null) throw new Error(`topupd serve ended with ${service.exitCode}`);
      await sleep(5);
    }
    const ms = Math.round(performance.now() - startedAt);
    await use();
    return ms;
  } finally {
    service.kill("SIGTERM");
    await ended;
  }
}

function run(command: string, ...words: string[]): void {
  say(`${command} ${words.join(" ")}`);
  execFileSync(command, words, { stdio: "inherit" });
}

function expect(what: string, found: string, expected: string): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`);
  say(`${what}: ${found}`);
}

function isThere(command: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
}

function say(line: string): void {
  process.stdout.write(`${line.trimEnd()}\n`);
}
