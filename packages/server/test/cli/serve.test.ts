import { once } from "node:events";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { callOperation, commandLine, logLines } from "../support/command-line.ts";
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
    for (const table of [
      "partner",
      "access_token",
      "customer",
      "catalogue_revision",
      "bouquet",
      "subscription_grant",
    ]) {
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

  test("on a port that is in use fails, and says what to do", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    onTestFinished(() => {
      holder.close();
    });
    const { port } = holder.address() as AddressInfo;
    const { code, stdout, stderr } = await commandLine().run("serve", "--port", String(port));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(`topupd: port ${port} of 127.0.0.1 is in use: choose another with --port or TOPUPD_PORT\n`);
  });

  test("on an address that is another machine's fails, and says what to do", async () => {
    const { code, stdout, stderr } = await commandLine().run("serve", "--port", "0", "--host", "203.0.113.1");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      "topupd: 203.0.113.1 is no address of this machine: choose another with --host or TOPUPD_HOST\n",
    );
  });
});
