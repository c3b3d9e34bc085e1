import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { commandLine, logLines } from "../support/command-line.ts";

/** The niceness of the processes that another has begun. */
function nicenessOfChildren(parent: number): number[] {
  const lines = execFileSync("ps", ["-eo", "ppid=,ni=,comm="], { encoding: "utf8" }).split("\n");
  const rows = lines.map((line) => line.trim().split(/\s+/));
  return rows.flatMap(([ppid, niceness, comm]) => (Number(ppid) === parent && comm !== "ps" ? [Number(niceness)] : []));
}

test("topupd serve --console-port serves staff by a process of its own, which gives way", async () => {
  const line = commandLine();
  const service = await line.start("serve", "--drain-seconds", "0", "--console-port", "0");
  await service.untilSaid(/serving the console/);
  const { key } = JSON.parse(await line.mustRun("staff", "key", "add", "billing", "--role", "viewer", "--json"));
  const url = logLines(service.stderr()).find(({ msg }) => msg === "serving the console")?.["url"] as string;
  const ask = (path: string) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  expect(await (await ask("/api/v1/session")).json()).toMatchObject({ name: "key billing", role: "viewer" });
  expect(await (await ask("/api/v1/health")).json()).toMatchObject({ store: "sqlite", database: "ok" });
  const readFigures = async () => ((await (await ask("/api/v1/health")).json()) as { figures: object | null }).figures;
  await expect.poll(readFigures, { timeout: 20_000 }).toMatchObject({ restarts: 0, processes: expect.any(Array) });
  expect(await (await ask("/")).text()).toMatch(/<title>/);
  const { setUpCode: code } = logLines(service.stderr()).find(({ msg }) => /has no staff yet/.test(String(msg))) ?? {};
  const addAdmin = (given: unknown) =>
    fetch(`${url}/api/v1/setup/admin`, {
      method: "POST",
      headers: { "x-forwarded-for": "203.0.113.7", "content-type": "application/json" },
      body: JSON.stringify({ name: "Maya", password: "mango 27 Bhaktapur lane", code: given }),
    });
  expect([(await addAdmin("guess")).status, (await addAdmin(code)).status]).toEqual([422, 204]);
  // Each port has its own, and nothing of the other's.
  expect((await fetch(`${service.url}/api/v1/session`)).status).toBe(404);
  expect((await ask("/readyz")).headers.get("content-type")).toMatch(/html/);
  const niceness = nicenessOfChildren(service.pid);
  expect(niceness).toHaveLength(3);
  expect(niceness.filter((each) => each > Math.min(...niceness))).toHaveLength(1);
  service.signal("SIGTERM");
  expect(await service.ended).toBe(0);
});
