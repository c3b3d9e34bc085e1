import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Family, OPEN_METRICS, PROMETHEUS_TEXT } from "../../src/metrics/exposition.ts";
import { startMeasuredService } from "../support/measured-service.ts";
import { readMetrics } from "../support/metrics-text.ts";
import { readOpenMetrics } from "../support/open-metrics-text.ts";
import { prepareTopUp } from "../support/service.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** What the Prometheus of these years sends. */
const ACCEPT_OF_PROMETHEUS =
  "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6," +
  "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4," +
  "text/plain;version=0.0.4;q=0.3,*/*;q=0.2";

async function scrapes() {
  const { service, url } = await startMeasuredService();
  const partner = await service.addPartner('ब्लु "Wallet" \\ Sons 👛');
  await service.call("txn-status", {}, { token: await service.issue(partner, "production") });
  const purchase = await prepareTopUp(service, { cuid: "1000001", service: "internet", reqId: "trial1" });
  await service.call("subscription-package-topup", purchase);
  await service.inject("/nowhere");
  const ask = async (accept: string) => {
    const response = await fetch(`${url}/metrics`, { headers: { accept } });
    return { type: response.headers.get("content-type"), body: new Uint8Array(await response.arrayBuffer()) };
  };
  return { open: await ask(ACCEPT_OF_PROMETHEUS), plain: await ask("text/plain") };
}

describe("a scrape that asks for OpenMetrics", () => {
  test("is answered with OpenMetrics 1.0, to the letter", async () => {
    const { open } = await scrapes();
    expect(open.type).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    const families = readOpenMetrics(open.body);
    const types = [...families.values()].map(({ name, type }) => [name, type]);
    expect(Object.fromEntries(types)).toEqual({
      topupd_requests: "counter",
      topupd_request_duration_seconds: "histogram",
      topupd_recording_fails_since_seconds: "gauge",
      topupd_top_ups: "counter",
      topupd_top_up_amount: "counter",
      topupd_batch_size: "histogram",
      topupd_commit_duration_seconds: "histogram",
      topupd_failed_batches: "counter",
      topupd_store_up: "gauge",
      topupd_event_loop_delay_seconds: "gauge",
      topupd_heap_used_bytes: "gauge",
      process_resident_memory_bytes: "gauge",
      process_open_fds: "gauge",
      process_max_fds: "gauge",
      process_cpu_seconds: "counter",
      process_start_time_seconds: "gauge",
      topupd_build: "info",
    });
    const text = new TextDecoder().decode(open.body);
    expect(text).toContain(
      "# TYPE process_cpu_seconds counter\n# UNIT process_cpu_seconds seconds\n# HELP process_cpu_seconds CPU",
    );
    expect(text.match(/^# UNIT /gm)).toHaveLength(8);
    expect(text).toMatch(/\n# EOF\n$/);
  });

  test("is told the same series with the same labels as one that asks for Prometheus's text", async () => {
    const { open, plain } = await scrapes();
    expect(plain.type).toBe("text/plain; version=0.0.4; charset=utf-8");
    const series = (families: ReadonlyMap<string, { samples: readonly { name: string; labels: object }[] }>) =>
      [...families.values()].flatMap(({ samples }) => samples.map(({ name, labels }) => ({ name, labels })));
    const told = series(readOpenMetrics(open.body));
    expect(told).toEqual(series(readMetrics(new TextDecoder().decode(plain.body))));
    expect(told.map(({ labels }) => labels)).toContainEqual(
      expect.objectContaining({ partner: 'ब्लु "Wallet" \\ Sons 👛', outcome: "invalid_field" }),
    );
  });
});

describe("both forms", () => {
  const odd = fc.constantFrom('"', "\\", "\n", "\r", "\0", "n", "{", "}", ",", "=", "#", " ");
  const label = fc.string({ unit: fc.oneof(odd, fc.string({ unit: "binary", minLength: 1, maxLength: 1 })) });
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });

  test("give any labels and numbers back as they were", () => {
    fc.assert(
      fc.property(fc.uniqueArray(label, { minLength: 1 }), number, (partners, value) => {
        const samples = partners.map((partner) => ({ labels: { partner, outcome: "success" }, value }));
        const family: Family = { name: "topupd_x", type: "gauge", description: "Any.", samples };
        const told = partners.map((partner) => ({
          name: "topupd_x",
          labels: { partner, outcome: "success" },
          // Nobody measures less than nothing of nothing.
          value: value + 0,
          text: String(value),
        }));
        expect(readOpenMetrics(bytes(OPEN_METRICS.write([family]))).get("topupd_x")?.samples).toEqual(told);
        expect(readMetrics(PROMETHEUS_TEXT.write([family])).get("topupd_x")?.samples).toEqual(told);
      }),
    );
  });

  test("give any decimal back digit by digit", () => {
    const samples = [{ labels: {}, value: "98765432109876543.21" }];
    const family: Family = { name: "topupd_x_total", type: "counter", description: "Any.", samples };
    expect(OPEN_METRICS.write([family])).toBe(
      "# TYPE topupd_x counter\n# HELP topupd_x Any.\ntopupd_x_total 98765432109876543.21\n# EOF\n",
    );
    expect(PROMETHEUS_TEXT.write([family])).toBe(
      "# HELP topupd_x_total Any.\n# TYPE topupd_x_total counter\ntopupd_x_total 98765432109876543.21\n",
    );
  });
});
