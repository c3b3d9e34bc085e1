import { Server } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { serveMetrics, single } from "../../src/metrics/exposition.ts";
import { startMeasuredService } from "../support/measured-service.ts";

describe("the metrics' own port", () => {
  test("answers GET /metrics with Prometheus's text, and nothing else", async () => {
    const { url } = await startMeasuredService();
    const ask = async (path: string, method = "GET") => {
      const response = await fetch(url + path, { method });
      return [response.status, response.headers.get("content-type"), (await response.text()) !== ""];
    };
    const text = [200, "text/plain; version=0.0.4; charset=utf-8", true];
    expect(await ask("/metrics")).toEqual(text);
    expect(await ask("/metrics?name=x")).toEqual(text);
    const nothing = [404, null, false];
    for (const path of ["/", "/metrics/", "/healthz", "/staging/api/third-party/v1.0.1/txn-status", "//metrics"])
      expect(await ask(path), path).toEqual(nothing);
    for (const method of ["POST", "PUT", "DELETE", "HEAD"])
      expect(await ask("/metrics", method), method).toEqual(nothing);
  });

  test("collects once for all who ask at the same time", async () => {
    let collections = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await serveMetrics({ host: "127.0.0.1", port: 0 }, async () => {
      collections += 1;
      await released;
      return [single("gauge", "topupd_test", "A test.", collections)];
    });
    onTestFinished(() => server.close());
    const ask = async () => (await fetch(`${server.url}/metrics`)).text();
    const asked = vi.spyOn(Server.prototype, "emit");
    const all = Promise.all(Array.from({ length: 10 }, ask));
    await vi.waitFor(() => expect(asked.mock.calls.filter(([name]) => String(name) === "request")).toHaveLength(10));
    release();
    asked.mockRestore();
    expect(new Set(await all)).toEqual(new Set([expect.stringContaining("topupd_test 1\n")]));
    expect(await ask()).toContain("topupd_test 2\n");
  });

  test("says 500 where reading fails, and goes on", async () => {
    let isBroken = true;
    const read = async () => {
      if (isBroken) throw new Error("broken");
      return [];
    };
    const server = await serveMetrics({ host: "127.0.0.1", port: 0 }, read);
    onTestFinished(() => server.close());
    const ask = async () => (await fetch(`${server.url}/metrics`)).status;
    expect(await ask()).toBe(500);
    isBroken = false;
    expect(await ask()).toBe(200);
  });
});
