import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { callOperation, commandLine, logLines, type RunningTopupd } from "../support/command-line.ts";
import { scraped } from "../support/measured-service.ts";
import { fillDatabase, SITA_NET } from "../support/provider-files.ts";
import { smtpServer } from "../support/smtp-server.ts";
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
      workers: 1,
      timeZone: "Asia/Kathmandu",
      currencyExponent: 2,
      msg: "listening",
    });
    expect(stdout()).toBe("");
  });

  test("seeds nothing", async () => {
    const line = commandLine();
    await line.start("serve");
    const database = rawConnection(join(line.folder, "topupd.db"));
    for (const table of ["partner", "access_token", "customer", "catalogue_revision", "bouquet", "ledger_entry"]) {
      expect([table, database.prepare(`SELECT count(*) AS count FROM ${table}`).get()]).toEqual([table, { count: 0 }]);
    }
  });

  test("does what its settings say: prefix, lapsed subscriptions, and the end of v1.0.0", async () => {
    const dates = { TOPUPD_V100_DEPRECATED_ON: "2026-06-01", TOPUPD_V100_SUNSET_ON: "2099-12-31" };
    const line = commandLine({ env: { TOPUPD_PREFIX: "/api", ...dates } });
    const token = await fillDatabase(line);
    const { url } = await line.start("serve", "--lapsed-days", "3650");
    const ask = (prefix: string) => callOperation(url, "get-subscription-package", token, SITA_NET, prefix);
    expect((await ask("/staging/api/third-party")).json.code).toBe("400ad003");
    const { json, headers } = await ask("/api");
    expect(json.body.internet.subscriptions).toMatchObject([{ code: "NET-1M", enddate: "2026-02-28 10:00:00" }]);
    const retirement = (of: Headers) => [of.get("deprecation"), of.get("sunset")];
    expect(retirement(headers)).toEqual([null, null]);
    const old = await fetch(`${url}/api/v1.0.0/txn-status`, { method: "POST", body: "{}" });
    expect(retirement(old.headers)).toEqual(["@1780272000", "Thu, 31 Dec 2099 00:00:00 GMT"]);
  });

  test("sends one mail about an alert, whichever worker finds it", async () => {
    const server = await smtpServer();
    const mail = {
      TOPUPD_MAIL: `smtp://127.0.0.1:${server.port}`,
      TOPUPD_MAIL_FROM: "t@a.example",
      TOPUPD_MAIL_TO: "a@a.example",
    };
    const line = commandLine({ env: mail });
    await line.mustRun("partner", "add", "wallet");
    rawConnection(join(line.folder, "topupd.db")).exec(
      `INSERT INTO retired_checkout (checkout_id, at, partner_id, environment, reason, limit_name, amount)
       VALUES ('a', ${Date.now()}, 1, 'production', 'limit_reached', 'paid_ahead', 113000)`,
    );
    const { signal, ended, stderr } = await line.start("serve", "--workers", "2");
    await expect.poll(() => server.mails.length).toBe(1);
    expect(server.mails[0]).toContain("Subject: topupd: wallet: limit reached\n");
    signal("SIGTERM");
    expect([await ended, server.mails.length]).toEqual([0, 1]);
    expect(logLines(stderr()).filter(({ level }) => level !== "info")).toEqual([]);
  });

  test("restores the trial customers of yesterday, once", async () => {
    const line = commandLine();
    await line.mustRun("trial", "reset");
    const database = rawConnection(join(line.folder, "topupd.db"));
    // Ends have seconds: a restore within the second of the reset would change nothing but the name.
    database.exec(`UPDATE customer SET first_name = 'Other', as_of = as_of - ${24 * 3_600_000}`);
    await line.start("serve", "--workers", "2");
    const resets = () => database.prepare("SELECT author FROM audit_entry WHERE action = 'trial.reset'").all();
    await expect.poll(resets).toMatchObject([{}, { author: "practice" }]);
  });

  test.each([
    // Its metrics are served by then, and must not keep it.
    ["port", "host", ["--metrics-port", "0"]],
    ["metrics-port", "metrics-host", ["--port", "0"]],
    // Of another process, which tells its supervisor.
    ["console-port", "console-host", ["--port", "0"]],
  ] as const)("on a --%s that is in use fails, and says what to change", async (flag, host, more) => {
    const port = String(await portInUse());
    const { code, stdout, stderr } = await commandLine().run("serve", `--${flag}`, port, ...more);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      new RegExp(`^topupd: cannot listen on 127\\.0\\.0\\.1, port ${port}: .*EADDRINUSE.* --${host} `),
    );
    expect(stderr).toContain(`--${flag} or TOPUPD_`);
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
