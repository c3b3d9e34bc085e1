import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { NODE_ARCH } from "../../../../packaging/node-binary.ts";
import { installedPaths, PROGRAM } from "../../../../packaging/tree.ts";
import { readConfig, SETTING_NAMES, SETTINGS } from "../../src/config.ts";
import { BODY_MAX_BYTES } from "../../src/partner/failures.ts";
import { ROOT, read, stopSeconds } from "../support/deploy-files.ts";

/*
 * The files that pack topupd and run it in containers are run by nobody's tests. These are the ways in which they could
 * rot without anybody noticing.
 */

const dockerfile = read("Dockerfile");
const dockerignore = read(".dockerignore");
const compose = read("deploy/compose.yaml");
const haproxy = read("deploy/haproxy.cfg");

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
  test("copies the tree of each processor, and all that is let into the build", () => {
    const sources = stages.flat().flatMap(copiedFromContext);
    expect(sources).toEqual([`dist/tree-\${TARGETARCH}`, "deploy/healthcheck.mjs"]);
    const trees = Object.keys(NODE_ARCH).map((arch) => `dist/tree-${arch}`);
    expect(trees.length).toBe(2);
    expect([...trees, "deploy/healthcheck.mjs"].filter(isIgnored)).toEqual([]);
    expect(existsSync(join(ROOT, "deploy/healthcheck.mjs"))).toBe(true);
  });

  test("starts the program as nobody special, by commands that take signals and paths that are there", () => {
    const user = lastStage.findLast(({ word }) => word === "USER")?.rest;
    expect(user).toMatch(/^(?!root$)[a-z]+$/);
    const program = [`${PROGRAM}/node`, `${PROGRAM}/bin/topupd.js`];
    expect(JSON.parse(argumentOf(lastStage, "ENTRYPOINT"))).toEqual(program);
    expect(installedPaths(read("deploy/topupd.service"))).toContain(`ExecStart=${program.join(" ")} serve\n`);
    expect(JSON.parse(argumentOf(lastStage, "CMD"))).toEqual(["serve"]);
    expect(argumentOf(lastStage, "STOPSIGNAL")).toBe("SIGTERM");
    expect(lastStage).toContainEqual({ word: "COPY", rest: `deploy/healthcheck.mjs ${PROGRAM}/` });
    const check = [`${PROGRAM}/node`, `${PROGRAM}/healthcheck.mjs`];
    expect(JSON.parse(argumentOf(lastStage, "HEALTHCHECK").split("CMD ")[1] ?? "")).toEqual([...check, "/healthz"]);
    expect(compose).toContain(`test: [CMD, ${check.join(", ")}, /readyz]`);
  });

  test("sets what the program takes", () => {
    const pairs = argumentOf(lastStage, "ENV").matchAll(/(\S+?)=(\S+)/g);
    const env: Record<string, string> = Object.fromEntries([...pairs].map(([, name, value]) => [name, value]));
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

describe("deploy/compose.yaml", () => {
  test("lets topupd reach targets outside, and the database nothing", () => {
    const ways = (text = "") => /^ +networks: \[(.*)\]$/m.exec(text)?.[1];
    expect(ways(/^x-topupd:[\s\S]*?(?=^x-serve:)/m.exec(compose)?.[0])).toBe("inside, outside");
    expect(ways(services().find(({ name }) => name === "database")?.text)).toBe("inside");
    const networks = /^networks:\n([\s\S]*?)^(?=\S)/m.exec(compose)?.[1] ?? "";
    expect(/^ {2}outside:\n(?! {4})/m.test(networks)).toBe(true);
  });

  test("can give a process every setting", () => {
    const given = compose + argumentOf(lastStage, "ENV");
    const missing = SETTING_NAMES.filter((name) => !new RegExp(`\\b${SETTINGS[name].env}[:=]`).test(given));
    expect(missing).toEqual([]);
  });

  test("asks for no variable that the example does not explain", () => {
    const example = read("deploy/.env.example");
    const asked = [...compose.matchAll(/\$\{(\w+)|^ +(TOPUPD_\w+):$/gm)].map(([, a, b]) => a ?? b ?? "");
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
  test("counts calls by the token that topupd reads, so that another way to write the header is no new caller", () => {
    expect(haproxy).toMatch(/^ +http-request track-sc0 http_auth_bearer,sha2\(256\) table calls$/m);
    expect(haproxy).not.toMatch(/hdr\(authorization\)/i);
  });

  test("counts every call for its address too, because tokens can be invented", () => {
    expect(haproxy).toMatch(/^ +http-request track-sc1 src,ipmask\(32,64\) table addresses$/m);
    expect(haproxy).toMatch(/^ +acl too_many sc_gpc0_rate\(1\) ge 1000$/m);
    expect(haproxy).toMatch(/^ +http-request sc-inc-gpc0\(1\) unless documents$/m);
  });

  test("sends requests to the processes that compose starts, on the port that the image listens on", () => {
    const servers = [...haproxy.matchAll(/^ +server (\S+ \S+)$/gm)].map(([, server]) => server);
    const port = argumentOf(lastStage, "EXPOSE");
    const serving = services().filter(({ text }) => text.includes("*serve"));
    expect(servers).toEqual(serving.map(({ name }) => `${name} ${name}:${port}`));
    expect(servers.length).toBe(2);
  });

  test("passes on the prefix and nothing else", () => {
    expect(haproxy).toMatch(
      `http-request deny deny_status 404 unless { path_beg ${SETTINGS.prefix.fallback}/ } || documents`,
    );
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

test("the container's health check is well where the answer is 200, and is not at 503 or where nobody listens", async () => {
  const server = createServer(({ url }, response) => response.writeHead(url === "/healthz" ? 200 : 503).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const port = String((server.address() as AddressInfo).port);
  /** The exit code, when the process listens on all addresses. */
  const check = (path: string) =>
    new Promise<number | null>((resolve) => {
      const env = { ...process.env, TOPUPD_HOST: "0.0.0.0", TOPUPD_PORT: port };
      const child = execFile(process.execPath, [join(ROOT, "deploy/healthcheck.mjs"), path], { env }, () =>
        resolve(child.exitCode),
      );
    });
  expect(await Promise.all([check("/healthz"), check("/readyz")])).toEqual([0, 1]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(await check("/healthz")).toBe(1);
});

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

/** The settings that compose gives every process, but for those that come from the operator. */
function composeSettings(): Record<string, string> {
  const set = compose.matchAll(/^ +(TOPUPD_\w+): "(.*)"$/gm);
  return Object.fromEntries([...set].map(([, name, value]) => [name, value]));
}

/** Compose's services with their text; there is no parser for YAML here, and the file is written to do without. */
function services(): { name: string; text: string }[] {
  const text = /^services:\n([\s\S]*?)^(?=\S)/m.exec(compose)?.[1] ?? "";
  return splitBefore(text.split("\n"), (line) => /^ {2}\w/.test(line))
    .slice(1)
    .map(([first = "", ...lines]) => ({ name: first.trim().replace(":", ""), text: lines.join("\n") }));
}
