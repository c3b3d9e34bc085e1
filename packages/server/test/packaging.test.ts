import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { readConfig, SETTING_NAMES, SETTINGS } from "../src/config.ts";
import { BODY_MAX_BYTES } from "../src/http/failures.ts";
import { commandLine } from "./support/command-line.ts";

/*
 * The files that pack and deploy topupd are run by nobody's tests: they need Docker, systemd or a proxy. These are the
 * ways in which they could rot without anybody noticing.
 */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const ENV_NAME = /\bTOPUPD_[A-Z0-9_]*[A-Z0-9]/g;

const dockerfile = read("Dockerfile");
const dockerignore = read(".dockerignore");
const compose = read("deploy/compose.yaml");
const unit = read("deploy/topupd.service");
const TV_BOUQUET = { service: "tv", code: "TV-1M", name: "TV (MONTHLY)", price: 450 };
const haproxy = read("deploy/haproxy.cfg");
const DEPLOYED = [
  "Dockerfile",
  ...["deploy", "deploy/monitoring"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => `${folder}/${name}`),
  ),
  // What an operator has put there is the operator's own.
].filter((path) => path !== "deploy/.env");

interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** The lines of the Dockerfile, with continued ones joined, by stage. The first stage is what stands before any FROM. */
const stages = splitBefore(
  dockerfile
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): Instruction => {
      const [, word = "", rest = ""] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
      return { word, rest: rest.trim() };
    }),
  ({ word }) => word === "FROM",
);
const lastStage = stages.at(-1) ?? [];

describe("the Dockerfile", () => {
  test("copies only what exists and is let into the build", () => {
    const sources = stages.flat().flatMap((instruction) => copiedFromContext(instruction));
    expect(sources.length).toBeGreaterThan(8);
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(sources.filter(isIgnored)).toEqual([]);
  });

  test("copies from stages that there are", () => {
    const names = stages
      .flat()
      .flatMap(({ word, rest }) => (word === "FROM" ? (/ AS (\S+)$/.exec(rest)?.[1] ?? []) : []));
    const used = [...dockerfile.matchAll(/--from=(\S+)/g)].map((match) => match[1] as string);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !names.includes(name))).toEqual([]);
  });

  test("installs by the lockfile and without install scripts, and knows every workspace where it does", () => {
    const installing = stages.filter((stage) =>
      stage.some(({ word, rest }) => word === "RUN" && /npm (ci|i)/.test(rest)),
    );
    expect(installing.length).toBe(2);
    for (const stage of installing) {
      const copied = stage.flatMap((instruction) => copiedFromContext(instruction));
      const needed = [
        "package.json",
        "package-lock.json",
        ".npmrc",
        ...workspaces().map((path) => `${path}/package.json`),
      ];
      expect(needed.filter((path) => !copied.includes(path))).toEqual([]);
      for (const { rest } of stage.filter((instruction) => /npm (ci|i)/.test(instruction.rest)))
        expect(rest).toMatch(/^npm ci --ignore-scripts\b/);
    }
  });

  test("has a Node that topupd accepts, and the same one in every stage", () => {
    const major = Number(/^ARG NODE=node:(\d+)-/m.exec(dockerfile)?.[1]);
    for (const path of ["package.json", "packages/server/package.json"]) {
      const { engines } = JSON.parse(read(path)) as { engines: { node: string } };
      const least = Number(/^>=(\d+)\.\d+$/.exec(engines.node)?.[1]);
      expect(least).toBeGreaterThan(0);
      // An image of the same major may be older than the minor that is asked for.
      expect(major, path).toBeGreaterThan(least);
    }
    const bases = stages.flat().filter(({ word }) => word === "FROM");
    expect(bases.filter(({ rest }) => !rest.startsWith(`\${NODE}`))).toEqual([]);
  });

  test("starts the program as nobody special, by commands that take signals and paths that are there", () => {
    const user = lastStage.findLast(({ word }) => word === "USER")?.rest;
    expect(user).toMatch(/^(?!root$)[a-z]+$/);
    expect(JSON.parse(argumentOf(lastStage, "ENTRYPOINT"))).toEqual(["node", "/app/packages/server/bin/topupd.js"]);
    expect(JSON.parse(argumentOf(lastStage, "CMD"))).toEqual(["serve"]);
    expect(argumentOf(lastStage, "STOPSIGNAL")).toBe("SIGTERM");
    const copied = lastStage.flatMap((instruction) => copiedFromContext(instruction));
    expect(copied).toEqual(expect.arrayContaining(["packages/server/bin", "deploy/healthcheck.mjs"]));
    const healthCheck = JSON.parse(
      /CMD (\[.*\])$/.exec(argumentOf(lastStage, "HEALTHCHECK"))?.[1] ?? "null",
    ) as unknown;
    expect(healthCheck).toEqual(["node", "/app/healthcheck.mjs", "/healthz"]);
  });

  test("sets what the program takes", () => {
    const env = Object.fromEntries(
      [...argumentOf(lastStage, "ENV").matchAll(/(\S+?)=(\S+)/g)].map(([, name, value]) => [name, value]),
    ) as Record<string, string>;
    const { host, port } = readConfig(env, {});
    expect({ host, port }).toEqual({ host: "0.0.0.0", port: Number(argumentOf(lastStage, "EXPOSE")) });
    expect(env["TOPUPD_DATABASE"]).toMatch(`sqlite:${argumentOf(lastStage, "VOLUME")}/`);
  });
});

describe(".dockerignore", () => {
  test("lets no secret, database or history into the build", () => {
    const own = [".env", ".git/config", "deploy/.env", "deploy/tls/topupd.pem", "topupd.db", "topupd-data/demo.db"];
    expect([...own, "node_modules/pg/package.json"].filter((path) => !isIgnored(path))).toEqual([]);
  });
});

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
      for (const [name, value] of examples.filter(([name]) => name.startsWith("TOPUPD_")))
        expect(() => readConfig({ [name]: value }, {}), `${path}: ${name}`).not.toThrow();
    }
  });

  test("give the same values to systemd and to a shell that reads them", () => {
    const example = read("deploy/topupd.env.example").replace(/^#(?=[A-Z0-9_]+=)/gm, "");
    const lines = example.split("\n").filter((line) => /^[A-Z0-9_]+=/.test(line));
    expect(lines.some((line) => line.includes("&"))).toBe(true);
    for (const line of lines) {
      const [[name, value] = ["", ""]] = assignments(line);
      const said = execFileSync("sh", ["-c", `${line}\nprintf %s "$${name}"`], { encoding: "utf8" });
      expect(said, name).toBe(value);
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

describe("deploy/compose.yaml", () => {
  test("can give a process every setting", () => {
    const given = [...(compose + argumentOf(lastStage, "ENV")).matchAll(/\b(TOPUPD_\w+)[:=]/g)].map(
      (match) => match[1],
    );
    expect(SETTING_NAMES.map((name) => SETTINGS[name].env).filter((name) => !given.includes(name))).toEqual([]);
  });

  test("asks for no variable that the example does not explain", () => {
    const example = read("deploy/.env.example");
    const asked = [...compose.matchAll(/\$\{(\w+)|^ +(TOPUPD_\w+):$/gm)].map(
      ([, first, second]) => first ?? second ?? "",
    );
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.filter((name) => !new RegExp(`^#?${name}=`, "m").test(example))).toEqual([]);
  });

  test("publishes the proxy's port and no other", () => {
    const publishing = services().filter(({ text }) => /^ +ports:/m.test(text));
    expect(publishing.map(({ name }) => name)).toEqual(["proxy"]);
    expect(/^x-[\s\S]*?(?=^services:)/m.exec(compose)?.[0]).not.toMatch(/ports:/);
  });

  test("gives a process more time to stop than it takes", () => {
    const grace = Number(/^x-serve:[\s\S]*?stop_grace_period: (\d+)s$/m.exec(compose)?.[1]);
    expect(grace).toBeGreaterThan(stopSeconds(composeSettings()));
  });
});

describe("deploy/haproxy.cfg", () => {
  test("sends requests to the processes that compose starts, on the port that the image listens on", () => {
    const servers = [...haproxy.matchAll(/^ +server (\S+) (\S+):(\d+)$/gm)].map(([, name, host, port]) => ({
      name,
      host,
      port,
    }));
    const port = argumentOf(lastStage, "EXPOSE");
    const serving = services().filter(({ text }) => text.includes("*serve"));
    expect(servers).toEqual(serving.map(({ name }) => ({ name, host: name, port })));
    expect(servers.length).toBe(2);
  });

  test("passes on the prefix and nothing else", () => {
    expect(haproxy).toMatch(`http-request deny deny_status 404 unless { path_beg ${SETTINGS.prefix.fallback}/ } `);
  });

  test("notices a process that stops before it refuses connections", () => {
    const [, every, times] = /\binter (\d+)s fall (\d+)\b/.exec(haproxy) ?? [];
    expect(Number(every) * Number(times)).toBeLessThan(Number(composeSettings()["TOPUPD_DRAIN_SECONDS"]));
    expect(haproxy).toMatch("http-check send meth GET uri /readyz ");
  });

  test("never sends a request twice, and leaves the limit on bodies to the service", () => {
    expect(haproxy.match(/^ +retry-on .*$/gm)).toEqual(["  retry-on conn-failure"]);
    expect(haproxy).not.toMatch(/alpn\s+\S*h2/);
    expect(Number(/req\.body_size gt (\d+)/.exec(haproxy)?.[1])).toBeGreaterThan(BODY_MAX_BYTES);
  });
});

describe("deploy/nginx.conf", () => {
  const example = read("deploy/nginx.conf");
  // What stands in no location holds for all of them.
  const ofServer = example.replace(/^ {2}location [^{]*\{[^}]*\}/gm, "");

  test("refuses every caller who calls too often by 429: nginx by itself would say that the service is away", () => {
    expect(example.match(/^ +limit_req zone=/gm)).toHaveLength(2);
    expect(ofServer).toMatch(/^ {2}limit_req_status 429;$/m);
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
    const line = commandLine();
    await line.mustRun("import", "catalogue", line.ndjson("c.ndjson", TV_BOUQUET));
    const { code } = await line.run("serve", "--time-zone", "Asia/Kathmandu");
    expect(directive("RestartPreventExitStatus")).toBe(String(code));
    expect((await line.run("serve", "--port", "none")).code).toBe(code);
  });
});

describe("the template for several processes in docs/operator-guide.md", () => {
  const text = read("docs/operator-guide.md");
  const [, words = ""] = /^sed 's\/ serve\$\/ serve (.*)\/' deploy\/topupd\.service /m.exec(text) ?? [];
  const instances = [...(/^sudo systemctl enable --now (topupd@.*)$/m.exec(text)?.[1] ?? "").matchAll(/@(\d+)/g)];

  test("gives each process ports of its own, though all read one file of settings", () => {
    const shared = Object.fromEntries(assignments(read("deploy/topupd.env.example").replace(/^#(?=TOPUPD_M)/gm, "")));
    expect(shared).toHaveProperty(SETTINGS.metricsPort.env);
    const ports = instances.flatMap(([, port = ""]) => {
      const flags = [...words.replaceAll("%i", port).matchAll(/--([a-z-]+) (\S+)/g)].map(([, flag, value]) => [
        SETTING_NAMES.find((name) => SETTINGS[name].flag === flag),
        value,
      ]);
      const { port: own, metricsPort } = readConfig(shared, Object.fromEntries(flags));
      expect(own).toBe(Number(port));
      return [own, metricsPort];
    });
    expect(ports.length).toBe(4);
    expect(new Set(ports).size).toBe(ports.length);
  });
});

describe("deploy/topupd.sh, by which commands are run", () => {
  /** What it asks of systemd, with somebody in the place of it who prints that. */
  const askedBy = (env: Readonly<Record<string, string>>) => {
    const script = read("deploy/topupd.sh").replace("exec systemd-run", "systemd");
    const said = `systemd() { printf '%s\\n' "$@"; }\n${script}`;
    const words = ["-euc", said, "topupd", "partner", "add", "Blue Wallet"];
    return execFileSync("sh", words, { env: { ...env, PATH: process.env["PATH"] }, encoding: "utf8" }).split("\n");
  };

  test("hands the words on as they are, and says who calls", () => {
    const asked = askedBy({ SUDO_USER: "maya" });
    expect(asked.slice(-4)).toEqual(["partner", "add", "Blue Wallet", ""]);
    expect(asked).toContain("--setenv=SUDO_USER=maya");
    expect(asked).toContain("--property=User=topupd");
  });

  test("says the user's own name where sudo was not called, by cron say", () => {
    expect(askedBy({})).toContain(`--setenv=SUDO_USER=${userInfo().username}`);
  });
});

describe("the container's health check", () => {
  test("is well where the answer is 200, and is not at 503 or where nobody listens", async () => {
    const server = createServer(({ url }, response) => response.writeHead(url === "/healthz" ? 200 : 503).end());
    const port = await listen(server);
    expect(await healthCheck(port)).toBe(0);
    expect(await healthCheck(port, "/healthz")).toBe(0);
    expect(await healthCheck(port, "/readyz")).toBe(1);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(await healthCheck(port)).toBe(1);
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
  test.runIf(hasIpv6)("asks at the address on which the process listens", async () => {
    const server = createServer((_request, response) => response.end());
    const port = await listen(server, "::1");
    for (const [host, code] of [
      ["::1", 0],
      ["::", 0],
      ["127.0.0.1", 1],
      ["0.0.0.0", 1],
    ] as const)
      expect(await healthCheckAt(host, port), host).toBe(code);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

function splitBefore<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): Item[][] {
  const groups: Item[][] = [[]];
  for (const item of items) {
    if (isFirst(item)) groups.push([]);
    groups.at(-1)?.push(item);
  }
  return groups;
}

/** What a COPY takes from the build context: all of its words but flags and the last, which is where it goes. */
function copiedFromContext({ word, rest }: Instruction): string[] {
  if (word !== "COPY" || rest.includes("--from=")) return [];
  return rest.split(/\s+/).slice(0, -1);
}

function argumentOf(stage: readonly Instruction[], word: string): string {
  return stage.find((instruction) => instruction.word === word)?.rest ?? "";
}

/** As Docker does it: the last line that fits the path, or a folder that it is in, decides. */
function isIgnored(path: string): boolean {
  const lines = dockerignore.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const last = lines.findLast((line) => {
    const pattern = line.replace(/^!/, "");
    // Only these two kinds of line are in use; whoever needs another kind teaches it to this function.
    expect(pattern).toMatch(/^(\*|[\w./-]+)$/);
    return pattern === "*" || path === pattern || path.startsWith(`${pattern}/`);
  });
  return last !== undefined && !last.startsWith("!");
}

/** The folders of all packages of this repository. */
function workspaces(): string[] {
  return readdirSync(join(ROOT, "packages"))
    .map((name) => `packages/${name}`)
    .filter((path) => existsSync(join(ROOT, path, "package.json")));
}

/** The lines of an environment file that set something. */
function assignments(text: string): [name: string, value: string][] {
  return [...text.matchAll(/^([A-Z0-9_]+)=('?)(.*)\2$/gm)].map(([, name = "", , value = ""]) => [name, value]);
}

/** The settings that compose gives every process, but for those that come from the operator. */
function composeSettings(): Record<string, string> {
  return Object.fromEntries(
    [...compose.matchAll(/^ +(TOPUPD_\w+): "(.*)"$/gm)].map(([, name, value]) => [name, value]),
  );
}

/** Compose's services with their text; there is no parser for YAML here, and the file is written to do without. */
function services(): { name: string; text: string }[] {
  const text = /^services:\n([\s\S]*?)^(?=\S)/m.exec(compose)?.[1] ?? "";
  return splitBefore(text.split("\n"), (line) => /^ {2}\w/.test(line))
    .slice(1)
    .map(([first = "", ...lines]) => ({ name: first.trim().replace(":", ""), text: lines.join("\n") }));
}

/** How long a process with these settings may take to stop. */
function stopSeconds(env: Readonly<Record<string, string>>): number {
  return [SETTINGS.drainSeconds, SETTINGS.shutdownSeconds]
    .map((setting) => Number(env[setting.env] ?? setting.fallback))
    .reduce((sum, seconds) => sum + seconds);
}

function directive(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1];
}

async function listen(server: Pick<Server, "listen" | "address">, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, () => resolve()));
  return (server.address() as AddressInfo).port;
}

/** The exit code of the container's health check. */
function healthCheck(port: number, ...args: string[]): Promise<number> {
  return healthCheckAt("127.0.0.1", port, ...args);
}

function healthCheckAt(host: string, port: number, ...args: string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(ROOT, "deploy/healthcheck.mjs"), ...args],
      { env: { ...process.env, TOPUPD_HOST: host, TOPUPD_PORT: String(port) } },
      () => resolve(child.exitCode ?? -1),
    );
  });
}
