import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { callOperation, commandLine, logLines, type RunningTopupd } from "../support/command-line.ts";
import { scraped } from "../support/measured-service.ts";
import { fillDatabase, SITA_NET } from "../support/provider-files.ts";

interface Process {
  readonly pid: number;
  readonly command: string;
}

/** The processes that a service has begun. */
function childrenOf({ pid }: Pick<RunningTopupd, "pid">): Process[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => {
    const [, child, parent, command = ""] = /^ *(\d+) +(\d+) +(.*)$/.exec(line) ?? [];
    return Number(parent) === pid && !command.startsWith("ps ") ? [{ pid: Number(child), command }] : [];
  });
}

const isSettler = ({ command }: Process) => command.includes("settler-main");

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const READY = { status: 200, body: { status: "ready" } };
const TOP_UPS_FAIL = { status: 200, body: { status: "ready", recordingFailsSince: expect.any(String) } };

async function startWorkers(...words: string[]) {
  const line = commandLine({ env: { TOPUPD_WORKERS: "2" } });
  const token = await fillDatabase(line);
  const service = await line.start("serve", "--drain-seconds", "0", "--metrics-port", "0", ...words);
  await service.untilSaid(/serving metrics/);
  const metricsUrl = logLines(service.stderr()).find(({ msg }) => msg === "serving metrics")?.["url"] as string;
  const scrape = async () => scraped(await (await fetch(`${metricsUrl}/metrics`)).text());
  const call = (operation: string, body: object) => callOperation(service.url, operation, token, body);
  const ready = async () => {
    const answer = await fetch(`${service.url}/readyz`);
    return { status: answer.status, body: await answer.json() };
  };
  const topUp = async () => {
    const { json } = await call("get-subscription-package", SITA_NET);
    const { checkoutId, internet } = json.body;
    const [bouquet] = internet.bouquets;
    const purchase = { ...SITA_NET, checkoutId, bouquetId: bouquet.code, amt: String(bouquet.price) };
    return { checkoutId, ...(await call("subscription-package-topup", purchase)) };
  };
  return { line, service, scrape, call, topUp, ready };
}

describe("topupd serve --workers 2", () => {
  test("limits the garbage of settler and workers, so that requests of strangers do not fill the memory", async () => {
    const { service } = await startWorkers();
    const limited = childrenOf(service).filter(({ command }) => command.includes(" --max-semi-space-size=4 "));
    expect(limited).toHaveLength(3);
  });

  test("serves as one: top-ups, metrics and the end", async () => {
    const { line, service, scrape, call, topUp } = await startWorkers();
    const processes = childrenOf(service);
    expect(processes.filter(isSettler)).toHaveLength(1);
    expect(processes).toHaveLength(3);
    const topUps = await Promise.all(Array.from({ length: 10 }, topUp));
    expect(topUps.map(({ status }) => status)).toEqual(topUps.map(() => 200));
    // Each on a connection of its own, so that both workers are asked.
    for (const { checkoutId } of topUps)
      expect((await call("txn-status", { checkoutId })).json).toMatchObject({ success: true });
    const { value, samples } = await scrape();
    expect(value("topupd_requests_total", { operation: "txn-status", outcome: "success" })).toBe(10);
    expect(value("topupd_top_ups_total", { service: "internet", environment: "production" })).toBe(10);
    expect(value("topupd_batch_size_sum")).toBe(10);
    expect(value("topupd_store_up")).toBe(1);
    expect(samples("topupd_build_info")).toHaveLength(1);
    expect(value("topupd_processes")).toBe(3);
    service.signal("SIGTERM");
    expect(await service.ended).toBe(0);
    expect(logLines(service.stderr()).filter(({ msg }) => msg === "stopped")).toHaveLength(1);
    expect(processes.filter(({ pid }) => isRunning(pid))).toEqual([]);
    expect((await line.run("check")).code).toBe(0);
  });

  test("lacks nothing after a worker was killed, or its settler: others take their places, and counts go on", async () => {
    const { service, scrape, call, topUp, ready } = await startWorkers();
    const acknowledged = await topUp();
    const before = (await scrape()).value("topupd_top_ups_total", { service: "internet", environment: "production" });
    const [worker] = childrenOf(service).filter((each) => !isSettler(each));
    process.kill(worker?.pid as number, "SIGKILL");
    // The other one serves meanwhile.
    await vi.waitFor(async () => expect((await topUp()).status).toBe(200), { timeout: 30_000 });
    await vi.waitFor(() => expect(childrenOf(service)).toHaveLength(3), { timeout: 30_000 });
    const { value } = await scrape();
    expect(before).toBe(1);
    const after = value("topupd_top_ups_total", { service: "internet", environment: "production" });
    expect(after).toBeGreaterThanOrEqual(2);
    expect(value("topupd_process_restarts_total")).toBe(1);
    expect(logLines(service.stderr())).toContainEqual(
      expect.objectContaining({ level: "error", cause: "SIGKILL", msg: "a worker has ended and is restarted" }),
    );

    // While it is away, top-ups are unavailable, and nothing else.
    const settler = childrenOf(service).find(isSettler);
    process.kill(settler?.pid as number, "SIGKILL");
    await vi.waitFor(async () => expect(await ready()).toMatchObject(TOP_UPS_FAIL), { interval: 5, timeout: 30_000 });
    await vi.waitFor(async () => expect((await topUp()).status).toBe(200), { timeout: 30_000 });
    await vi.waitFor(async () => expect(await ready()).toEqual(READY), { timeout: 30_000 });
    const { json } = await call("txn-status", { checkoutId: acknowledged.checkoutId });
    expect(json).toMatchObject({ success: true });
  });

  test("has the free ports that it took also after its only worker and its console were killed", async () => {
    const { service, topUp } = await startWorkers("--workers", "1", "--console-port", "0");
    await service.untilSaid(/serving the console/);
    const { url } = logLines(service.stderr()).find(({ msg }) => msg === "serving the console") as { url: string };
    for (const { pid } of childrenOf(service).filter((each) => !isSettler(each))) process.kill(pid, "SIGKILL");
    await vi.waitFor(async () => expect((await topUp()).status).toBe(200), { timeout: 30_000 });
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), { timeout: 30_000 });
  });

  test("shows at /readyz that its settler hangs, and replaces it", async () => {
    const { service, scrape, call, topUp, ready } = await startWorkers();
    const settler = childrenOf(service).find(isSettler)?.pid as number;
    const failsSince = async () => (await scrape()).value("topupd_recording_fails_since_seconds");
    expect(await failsSince()).toBe(0);
    process.kill(settler, "SIGSTOP");
    const pending = topUp();
    await vi.waitFor(async () => expect(await ready()).toMatchObject(TOP_UPS_FAIL), { timeout: 30_000 });
    expect(await failsSince()).toBeGreaterThan(0);
    expect((await call("get-customer-information", { code: "sita" })).status).toBe(200);
    expect((await pending).status).toBe(503);
    await service.untilSaid(/"cause":"it did not answer for 10 seconds","msg":"a settler has ended/);
    await vi.waitFor(async () => expect((await topUp()).status).toBe(200), { timeout: 30_000 });
    await vi.waitFor(async () => expect(await ready()).toEqual(READY), { timeout: 30_000 });
    expect(isRunning(settler)).toBe(false);
  });

  test("ends in time though its settler hangs", async () => {
    const { service } = await startWorkers("--shutdown-seconds", "1");
    const settler = childrenOf(service).find(isSettler)?.pid as number;
    process.kill(settler, "SIGSTOP");
    service.signal("SIGTERM");
    expect(await service.ended).toBe(0);
    expect(isRunning(settler)).toBe(false);
  });

  test("leaves nothing behind that holds port or database where its supervisor is killed", async () => {
    const { line, service } = await startWorkers();
    const children = childrenOf(service);
    service.signal("SIGKILL");
    await vi.waitFor(() => expect(children.filter(({ pid }) => isRunning(pid))).toEqual([]), { timeout: 30_000 });
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
    expect((await line.run("check")).code).toBe(0);
    const socket = /"socketPath":"([^"]+)"/.exec(children.find(isSettler)?.command ?? "")?.[1] ?? "";
    expect(socket).not.toBe("");
    await vi.waitFor(() => expect(existsSync(socket)).toBe(false), { timeout: 5_000 });
  });

  test("ends at once where it is asked a second time", async () => {
    const { service } = await startWorkers("--drain-seconds", "30");
    const children = childrenOf(service);
    service.signal("SIGTERM");
    await service.untilSaid(/"msg":"stopping"/);
    await sleep(50);
    service.signal("SIGTERM");
    await service.ended;
    await vi.waitFor(() => expect(children.filter(({ pid }) => isRunning(pid))).toEqual([]), { timeout: 30_000 });
  });
});
