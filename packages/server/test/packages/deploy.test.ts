import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig, SETTING_NAMES, SETTINGS } from "../../src/config.ts";
import { BODY_MAX_BYTES } from "../../src/partner/failures.ts";
import { assignments, ROOT, read, stopSeconds } from "../support/deploy-files.ts";
import { officeLine } from "../support/office-line.ts";

/* What is true of all files for deploying, and those that run topupd without containers. */

const ENV_NAME = /\bTOPUPD_[A-Z0-9_]*[A-Z0-9]/g;

const unit = read("deploy/topupd.service");
const DEPLOYED = [
  "Dockerfile",
  ...["deploy", "deploy/monitoring"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => `${folder}/${name}`),
  ),
  // What an operator has put there is the operator's own.
].filter((path) => path !== "deploy/.env");

describe("the files for deploying", () => {
  test("name no variable that is not a setting", () => {
    const known = SETTING_NAMES.map((name) => SETTINGS[name].env);
    const named = DEPLOYED.flatMap((path) => (read(path).match(ENV_NAME) ?? []).map((name) => ({ path, name })));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ name }) => !known.includes(name))).toEqual([]);
  });

  test("give examples of values that are read", () => {
    for (const path of ["deploy/.env.example", "deploy/topupd.env.example"]) {
      const examples = assignments(read(path).replace(/^#(?=[A-Z0-9_]+=)/gm, ""));
      expect(examples.length).toBeGreaterThan(3);
      const settings = examples.filter(([name]) => name.startsWith("TOPUPD_"));
      // Some settings need each other.
      const all = Object.fromEntries(settings);
      for (const [name, value] of settings)
        expect(() => readConfig({ ...all, [name]: value }, {}), `${path}: ${name}`).not.toThrow();
    }
  });

  test("hold no password", () => {
    for (const path of DEPLOYED)
      for (const [, url = "", password = ""] of read(path).matchAll(/(postgres:\/\/[^:\s]+:([^@\s]+))@/g))
        expect(password, `${path}: ${url}`).toMatch(/^(PASSWORD|\$\{POSTGRES_PASSWORD:\?.*\}?)/);
    expect(read("deploy/.env.example")).toMatch(/^POSTGRES_PASSWORD=$/m);
    expect(read("deploy/.gitignore").split("\n")).toEqual(expect.arrayContaining([".env", "tls/"]));
  });
});

describe("deploy/nginx.conf", () => {
  const example = read("deploy/nginx.conf");
  // What stands in no location holds for all of them.
  const ofServer = example.replace(/^ {2}location [^{]*\{[^}]*\}/gm, "");

  test("refuses every caller who calls too often by 429: nginx by itself would say that the service is away", () => {
    expect(example.match(/^ +limit_req zone=/gm)).toHaveLength(3);
    expect(ofServer).toMatch(/^ {2}limit_req_status 429;$/m);
  });

  test("counts a partner's call for its token, and every caller's for the address: tokens can be invented", () => {
    const counted = [...(/location \/staging[^}]*/.exec(example)?.[0] ?? "").matchAll(/limit_req zone=(\w+) /g)];
    const keys = counted.map(
      ([, zone = ""]) => new RegExp(`^limit_req_zone (\\S+) zone=${zone}:`, "m").exec(example)?.[1],
    );
    expect(keys).toEqual(["$access_token", "$binary_remote_addr"]);
  });

  test("passes on nothing but the interface and its documents, and serves no files of its own", () => {
    const locations = [...example.matchAll(/^ {2}location (.*) \{/gm)].map(([, path]) => path);
    expect(locations).toEqual([`${SETTINGS.prefix.fallback}/`, "~ ^/(docs|openapi)(/|$)", "/"]);
    expect(example).toMatch(/location \/ \{\n +return 404;\n +\}/);
  });

  test("leaves the limit on bodies to the service", () => {
    expect(Number(/^ {2}client_max_body_size (\d+)k;$/m.exec(ofServer)?.[1]) * 1024).toBeGreaterThan(BODY_MAX_BYTES);
  });
});

describe("deploy/topupd.service", () => {
  test("starts the program where it is, and not as root", () => {
    const [, path = ""] = /^ExecStart=\/usr\/bin\/node \/opt\/topupd\/(\S+) serve$/m.exec(unit) ?? [];
    expect(existsSync(join(ROOT, path || "nowhere"))).toBe(true);
    expect(directive("User")).toMatch(/^(?!root$)[a-z]+$/);
  });

  test("gives the process more time to stop than it takes", () => {
    const seconds = Number(directive("TimeoutStopSec"));
    expect(seconds).toBeGreaterThan(stopSeconds({}));
    expect(seconds).toBeGreaterThan(stopSeconds(Object.fromEntries(assignments(read("deploy/topupd.env.example")))));
  });

  test("keeps the database in the folder that it may write", () => {
    const { TOPUPD_DATABASE } = Object.fromEntries(assignments(read("deploy/topupd.env.example")));
    expect(directive("ProtectSystem")).toBe("strict");
    expect(TOPUPD_DATABASE).toMatch(`sqlite:/var/lib/${directive("StateDirectory")}/`);
  });

  test("does not start again what ends for wrong settings", async () => {
    const line = officeLine();
    const { code } = await line.run("serve", "--port", "none");
    expect(directive("RestartPreventExitStatus")).toBe(String(code));
  });
});

describe("deploy/topupd-backup.service", () => {
  const backup = read("deploy/topupd-backup.service");

  test("is the service, with one backup in place of serving, at a lower priority", () => {
    const lines = (text: string) => text.split("\n").filter((line) => /^[A-Z]/.test(line) && !line.startsWith("Exec"));
    const own = lines(backup).filter((line) => !lines(unit).includes(line));
    expect(own.map((line) => line.split("=")[0])).toEqual([
      ...["Description", "Type", "Nice", "IOSchedulingClass", "ReadWritePaths"],
    ]);
    const [, start] = /^ExecStart=(.*) serve$/m.exec(unit) ?? [];
    expect(backup).toContain(`\nExecStart=${start} backup --keep\n`);
  });

  test("may write the folder of the example", () => {
    const example = read("deploy/topupd.env.example");
    const [, folder] = /^#TOPUPD_BACKUP_FOLDER=(.*)$/m.exec(example) ?? [];
    expect(backup).toContain(`\nReadWritePaths=-${folder}\n`);
  });

  test("is started every hour, also for an hour that was missed", () => {
    const timer = read("deploy/topupd-backup.timer");
    for (const line of ["OnCalendar=hourly", "Persistent=true"]) expect(timer).toContain(`\n${line}\n`);
  });
});

test("deploy/topupd.sh hands a command on as it is, as the service's user, and says who calls", () => {
  /** What it asks of systemd, with somebody in the place of it who prints that. */
  const askedBy = (env: Readonly<Record<string, string>>, command = ["partner", "add", "Blue Wallet"]) => {
    const script = read("deploy/topupd.sh")
      .replace("exec systemd-run", "systemd")
      .replace("exec /usr/bin/node", "exec printf '%s\\n'");
    const said = `systemd() { printf '%s\\n' "$@"; }\n${script}`;
    const words = ["-euc", said, "topupd", ...command];
    return execFileSync("sh", words, { env: { ...env, PATH: process.env["PATH"] }, encoding: "utf8" }).split("\n");
  };
  const asked = askedBy({ SUDO_USER: "maya" });
  expect(asked.slice(-4)).toEqual(["partner", "add", "Blue Wallet", ""]);
  expect(asked).toContain("--setenv=SUDO_USER=maya");
  expect(asked).toContain("--property=User=topupd");
  // Files that a command names are those of the caller's folder, if the user can enter it.
  expect(asked).toContain(`--property=WorkingDirectory=-${process.cwd()}`);
  // Where sudo was not called, by cron say.
  expect(askedBy({})).toContain(`--setenv=SUDO_USER=${userInfo().username}`);
  // Setup asks at the terminal, and writes the settings as root.
  expect(askedBy({}, ["setup", "--yes"]).slice(1)).toEqual(["setup", "--yes", ""]);
});

function directive(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1];
}
