import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig, SETTING_NAMES, SETTINGS } from "../../src/config.ts";
import { BODY_MAX_BYTES } from "../../src/partner/failures.ts";
import { assignments, ROOT, read, stopSeconds } from "../support/deploy-files.ts";
import { officeLine } from "../support/office-line.ts";
import { temporaryFolder } from "../support/service.ts";

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

describe("deploy/topupd.sh", () => {
  /** What it starts in the end, with programs in the place of the real ones that print how they were called. */
  const started = (given: { caller: string; sudo?: string; systemd?: boolean; words?: string[] }) => {
    const { caller, sudo, systemd = true, words = ["partner", "add", "Blue Wallet"] } = given;
    const folder = temporaryFolder();
    const settings = join(folder, "topupd.env");
    writeFileSync(settings, "# A comment\nTOPUPD_PROVIDER_NAME='Blue $(false) Cable'\nTOPUPD_PORT=8085\nPATH=/none\n");
    for (const name of ["systemd-run", "setpriv", "node"])
      writeFileSync(
        join(folder, name),
        `#!/bin/sh\nprintf '%s\\n' ${name} "$@" "$TOPUPD_PROVIDER_NAME" "$SUDO_USER"\n`,
        {
          mode: 0o755,
        },
      );
    writeFileSync(join(folder, "id"), `#!/bin/sh\necho ${caller}\n`, { mode: 0o755 });
    const script = read("deploy/topupd.sh")
      .replace("/etc/topupd/topupd.env", settings)
      .replace("/usr/bin/node", join(folder, "node"))
      .replace("/run/systemd/system", systemd ? folder : join(folder, "none"));
    const env = { PATH: `${folder}:${process.env["PATH"]}`, ...(sudo === undefined ? {} : { SUDO_USER: sudo }) };
    return execFileSync("sh", ["-c", script, "topupd", ...words], { env, encoding: "utf8" })
      .trimEnd()
      .split("\n");
  };

  test("hands a command on as it is, as the service's user, and says who calls", () => {
    const [first, ...rest] = started({ caller: "root", sudo: "maya" });
    expect(first).toBe("systemd-run");
    expect(rest.slice(-5)).toEqual(["partner", "add", "Blue Wallet", "", "maya"]);
    expect(rest).toContain("--setenv=SUDO_USER=maya");
    expect(rest).toContain("--property=User=topupd");
    // Files that a command names are those of the caller's folder, if the user can enter it.
    expect(rest).toContain(`--property=WorkingDirectory=-${process.cwd()}`);
    // Where sudo was not called, by cron say.
    expect(started({ caller: "root" })).toContain("--setenv=SUDO_USER=root");
  });

  test("reads the settings by itself without systemd, and executes nothing in them", () => {
    const said = started({ caller: "root", systemd: false });
    expect(said.slice(0, 4)).toEqual(["setpriv", "--reuid=topupd", "--regid=topupd", "--init-groups"]);
    expect(said.slice(-5)).toEqual(["partner", "add", "Blue Wallet", "Blue $(false) Cable", "root"]);
  });

  test("becomes nobody else in a container, for setup, and for commands without settings", () => {
    const own = [
      ["topupd", "check"],
      ["root", "setup"],
      ["maya", "--version"],
      ["maya", "demo"],
    ] as const;
    for (const [caller, word] of own) expect(started({ caller, words: [word] })[0], word).toBe("node");
    for (const [caller, word] of [
      ["root", "demo"],
      ["maya", "check"],
    ] as const)
      expect(started({ caller, words: [word] })[0], word).toBe("systemd-run");
  });
});

function directive(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1];
}
