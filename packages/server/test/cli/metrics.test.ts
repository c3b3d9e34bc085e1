import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { callOperation, commandLine, logLines, type RunningTopupd } from "../support/command-line.ts";
import { scraped } from "../support/measured-service.ts";
import { fillDatabase } from "../support/provider-files.ts";

/** Where a running service says that its metrics are; undefined where it says nothing of them. */
function metricsUrl({ stderr }: RunningTopupd): string | undefined {
  return logLines(stderr()).find(({ msg }) => msg === "serving metrics")?.["url"] as string | undefined;
}

async function portInUse(): Promise<number> {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  onTestFinished(() => {
    holder.close();
  });
  return (holder.address() as AddressInfo).port;
}

describe("topupd serve --metrics-port", () => {
  test("serves what is counted, and what the process is, on a port that it names in the log", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const service = await line.start("serve", "--metrics-port", "0");
    await service.untilSaid(/serving metrics/);
    const url = metricsUrl(service) ?? "";
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(url).not.toBe(service.url);
    await callOperation(service.url, "get-customer-information", token, { code: "sita" });

    const read = async () => scraped(await (await fetch(`${url}/metrics`)).text());
    const { value, samples } = await read();
    expect(value("topupd_requests_total", { outcome: "success" })).toBe(1);
    expect(value("topupd_store_up")).toBe(1);
    const build = { version: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.version, store: "sqlite" };
    expect(samples("topupd_build_info").map(({ labels }) => labels)).toEqual([build]);
    const started = (value("process_start_time_seconds") ?? 0) * 1000;
    expect(started).toBeGreaterThan(Date.UTC(2020, 0));
    expect(started).toBeLessThanOrEqual(Date.now());
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "topupd_heap_used_bytes"])
      expect(value(name), name).toBeGreaterThan(0);
    if (process.platform === "linux") expect(value("process_open_fds")).toBeLessThan(value("process_max_fds") ?? 0);
    // Asked again at once, before the timer behind it has come round, there may be nothing to tell of but 0.
    for (const { samples: ofScrape } of [{ samples }, await read()])
      for (const sample of ofScrape("topupd_event_loop_delay_seconds")) expect(sample.value).toBeGreaterThanOrEqual(0);
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
  });

  test("stops with the service", async () => {
    const service = await commandLine().start("serve", "--metrics-port", "0");
    await service.untilSaid(/serving metrics/);
    const url = metricsUrl(service) ?? "";
    // A scraper keeps its connection, and must not keep the process.
    expect((await fetch(`${url}/metrics`)).status).toBe(200);
    service.signal("SIGINT");
    expect(await service.ended).toBe(0);
    await expect(fetch(`${url}/metrics`)).rejects.toThrow();
  });

  test("on a port that is in use fails, says which setting to change, and serves nobody", async () => {
    const port = String(await portInUse());
    const { code, stdout, stderr } = await commandLine().run("serve", "--port", "0", "--metrics-port", port);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      `topupd: port ${port} of 127.0.0.1 is in use: choose another with --metrics-port or TOPUPD_METRICS_PORT\n`,
    );
  });

  test("on an address that is another machine's fails, and says which setting to change", async () => {
    const words = ["serve", "--port", "0", "--metrics-port", "0", "--metrics-host", "203.0.113.1"];
    const { code, stdout, stderr } = await commandLine().run(...words);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      "topupd: 203.0.113.1 is no address of this machine: choose another with --metrics-host or TOPUPD_METRICS_HOST\n",
    );
  });

  test("leaves nothing running where the partners' port cannot be had", async () => {
    const port = String(await portInUse());
    const { code, stderr } = await commandLine().run("serve", "--port", port, "--metrics-port", "0");
    expect([code, stderr]).toEqual([
      1,
      `topupd: port ${port} of 127.0.0.1 is in use: choose another with --port or TOPUPD_PORT\n`,
    ]);
  });
});

test("without --metrics-port, a service serves no metrics, whatever the host is set to", async () => {
  const service = await commandLine({ env: { TOPUPD_METRICS_HOST: "127.0.0.1" } }).start("serve");
  expect(metricsUrl(service)).toBeUndefined();
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
  service.signal("SIGINT");
  expect(await service.ended).toBe(0);
  expect(metricsUrl(service)).toBeUndefined();
});

test("the demo says where its metrics are", async () => {
  const demo = await commandLine().start("demo", "--metrics-port", "0");
  const [, url = ""] = /^Metrics: (http:\S+\/metrics)$/m.exec(demo.stdout()) ?? [];
  const { value } = scraped(await (await fetch(url)).text());
  expect(value("topupd_top_ups_total", { service: "internet", environment: "trial" })).toBe(1);
});
