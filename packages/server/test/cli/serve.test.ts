import { once } from "node:events";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { callOperation, commandLine, logLines, type RunningTopupd } from "../support/command-line.ts";
import { scraped } from "../support/measured-service.ts";
import { fillDatabase, SITA_NET } from "../support/provider-files.ts";
import { rawConnection } from "../support/sqlite-database.ts";

describe("topupd serve", () => {
  test("says where it listens and what it keeps, on stderr alone", async () => {
    const { url, stdout, stderr } = await commandLine().start("serve", "--time-zone", "Asia/Kathmandu");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(logLines(stderr()).find(({ msg }) => msg === "listening")).toEqual({
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      url,
      database: "sqlite:./topupd.db",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      timeZone: "Asia/Kathmandu",
      currencyExponent: 2,
      msg: "listening",
    });
    expect(stdout()).toBe("");
  });

  test("is healthy and ready", async () => {
    const { url } = await commandLine().start("serve");
    const get = async (path: string) => {
      const response = await fetch(url + path);
      return [response.status, await response.json()];
    };
    expect(await get("/healthz")).toEqual([200, { status: "ok" }]);
    expect(await get("/readyz")).toEqual([200, { status: "ready" }]);
  });

  test.skipIf(!existsSync("/proc/self/fd"))(
    "settles top-ups in a thread, which has the database open too",
    async () => {
      const { pid } = await commandLine().start("serve");
      await vi.waitFor(() => {
        const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
        expect(open.filter((path) => path.endsWith("/topupd.db"))).toHaveLength(2);
      });
    },
  );

  test("seeds nothing", async () => {
    const line = commandLine();
    await line.start("serve");
    const database = rawConnection(join(line.folder, "topupd.db"));
    for (const table of ["partner", "access_token", "customer", "catalogue_revision", "bouquet", "ledger_entry"]) {
      expect([table, database.prepare(`SELECT count(*) AS count FROM ${table}`).get()]).toEqual([table, { count: 0 }]);
    }
  });

  test("answers under the prefix that it was given, and under no other", async () => {
    const line = commandLine({ env: { TOPUPD_PREFIX: "/api" } });
    const token = await fillDatabase(line);
    const { url } = await line.start("serve");
    const call = async (prefix: string) =>
      (await callOperation(url, "get-customer-information", token, { code: "sita" }, prefix)).json.code;
    expect(await call("/api")).toBe("400aa010");
    expect(await call("/staging/api/third-party")).toBe("400ad003");
  });

  test("lists lapsed subscriptions for as long as it was told, and none otherwise", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const services = [await line.start("serve"), await line.start("serve", "--lapsed-days", "3650")];
    const lists = services.map(async ({ url }) => {
      const { json } = await callOperation(url, "get-subscription-package", token, SITA_NET);
      return json.body.internet.subscriptions;
    });
    expect(await Promise.all(lists)).toEqual([
      [],
      [
        {
          code: "NET-1M",
          name: "Fiber 100 Mbps (MONTHLY)",
          startdate: "2026-01-31 10:00:00",
          enddate: "2026-02-28 10:00:00",
        },
      ],
    ]);
  });

  test("announces the end of v1.0.0 where it was told to, and on v1.0.0 alone", async () => {
    const dates = { TOPUPD_V100_DEPRECATED_ON: "2026-06-01", TOPUPD_V100_SUNSET_ON: "2099-12-31" };
    const { url } = await commandLine({ env: dates }).start("serve");
    const headersOf = async (version: string) => {
      const path = `/staging/api/third-party/${version}/txn-status`;
      const { headers } = await fetch(url + path, { method: "POST", body: "{}" });
      return [headers.get("deprecation"), headers.get("sunset")];
    };
    expect(await headersOf("v1.0.0")).toEqual(["@1780272000", "Thu, 31 Dec 2099 00:00:00 GMT"]);
    expect(await headersOf("v1.0.1")).toEqual([null, null]);
  });

  test.each([
    ["port", "host", []],
    ["metrics-port", "metrics-host", ["--port", "0"]],
  ] as const)("on a --%s that is in use fails, and says what to change", async (flag, host, more) => {
    const port = String(await portInUse());
    const { code, stdout, stderr } = await commandLine().run("serve", `--${flag}`, port, ...more);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      new RegExp(`^topupd: cannot listen on 127\\.0\\.0\\.1, port ${port}: .*EADDRINUSE.* --${host} `),
    );
    expect(stderr).toContain(`--${flag} or TOPUPD_`);
  });

  test("leaves nothing running where the partners' port cannot be had, though metrics were served", async () => {
    const port = String(await portInUse());
    const { code, stderr } = await commandLine().run("serve", "--port", port, "--metrics-port", "0");
    expect([code, stderr]).toEqual([1, expect.stringContaining("EADDRINUSE")]);
  });
});

async function portInUse(): Promise<number> {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  onTestFinished(() => {
    holder.close();
  });
  return (holder.address() as AddressInfo).port;
}

/** Where a running service says that its metrics are; undefined where it says nothing of them. */
function metricsUrl({ stderr }: RunningTopupd): string | undefined {
  return logLines(stderr()).find(({ msg }) => msg === "serving metrics")?.["url"] as string | undefined;
}

describe("topupd serve --metrics-port", () => {
  test("serves what is counted, and what the process is, on a port of its own, and stops with the service", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const service = await line.start("serve", "--metrics-port", "0");
    await service.untilSaid(/serving metrics/);
    const url = metricsUrl(service) ?? "";
    expect(url).not.toBe(service.url);
    await callOperation(service.url, "get-customer-information", token, { code: "sita" });
    const { value, samples } = scraped(await (await fetch(`${url}/metrics`)).text());
    expect(value("topupd_requests_total", { outcome: "success" })).toBe(1);
    expect(value("topupd_store_up")).toBe(1);
    const build = { version: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.version, store: "sqlite" };
    expect(samples("topupd_build_info").map(({ labels }) => labels)).toEqual([build]);
    const started = (value("process_start_time_seconds") ?? 0) * 1000;
    expect(started).toBeGreaterThan(Date.UTC(2020, 0));
    expect(started).toBeLessThanOrEqual(Date.now());
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "topupd_heap_used_bytes"])
      expect(value(name), name).toBeGreaterThan(0);
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
    // A scraper keeps its connection, and must not keep the process.
    service.signal("SIGINT");
    expect(await service.ended).toBe(0);
    await expect(fetch(`${url}/metrics`)).rejects.toThrow();
  });
});
