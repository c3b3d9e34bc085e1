import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ENVIRONMENTS } from "../../src/domain/customer.ts";
import { MAILED_PROBLEMS } from "../../src/domain/problem.ts";
import { FAILURES } from "../../src/partner/failures.ts";
import { VERSIONS } from "../../src/partner/versions/all.ts";
import { DELIVERY_OUTCOMES } from "../../src/workers/delivery-observer.ts";
import { quoted, tableRows, unquote } from "../support/markdown.ts";
import { startMeasuredService } from "../support/measured-service.ts";
import { prepareTopUp } from "../support/service.ts";

/* The dashboard, the alerts and the documentation name all metrics, and no others. */

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Dashboard {
  readonly panels: readonly {
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const dashboard = JSON.parse(read("deploy/monitoring/grafana-dashboard.json")) as Dashboard;
const alerts = read("deploy/monitoring/alerts.yaml");
const runbook = read("docs/alerts.md");
const expressions = [
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...[...alerts.matchAll(/^ +expr: (?:\|\n)?((?:.|\n)*?)(?=\n +(?:for|labels):)/gm)].map((match) => match[1] as string),
];
const alertNames = [...alerts.matchAll(/^ +- alert: (\S+)$/gm)].map((match) => match[1] as string);

/** Names of metrics in a text, with the suffixes of histograms. */
const namesIn = (text: string) => [...new Set(text.match(/\b(?:topupd|process)_[a-z0-9_]+\b/g))];

/** Metrics of the supervisor, which the tested service does not have. */
const OF_SUPERVISOR = ["topupd_processes", "topupd_process_restarts_total", "topupd_recording_fails_since_seconds"];

/** A scrape with samples of every metric. */
async function fullScrape() {
  const { service, deliveryObserver, observeProblems, read: scrape } = await startMeasuredService();
  observeProblems([{ kind: "no_backup" }, { kind: "no_backup" }]);
  deliveryObserver.targetObserved("tv", { lagMs: 0, waiting: 0, setAside: 0 });
  deliveryObserver.stepEnded("tv", 400);
  const purchase = await prepareTopUp(service, { cuid: "1000001", service: "internet", reqId: "trial1" });
  await service.call("subscription-package-topup", purchase);
  return scrape();
}

describe("the dashboard and the alert rules", () => {
  test("name no metric that a scrape does not have", async () => {
    const { families } = await fullScrape();
    const served = [...families.values()].flatMap(({ name, samples }) => [name, ...samples.map((each) => each.name)]);
    expect(expressions.length).toBeGreaterThan(30);
    served.push(...OF_SUPERVISOR);
    // Prometheus itself adds `up`.
    for (const expression of expressions)
      if (!/\bup\{/.test(expression)) expect(namesIn(expression), expression).not.toEqual([]);
    expect(expressions.flatMap(namesIn).filter((name) => !served.includes(name))).toEqual([]);
  });

  test("page nobody for a share of few: a single caller that hangs up at night is more than one in a hundred", () => {
    const paging = alerts.split(/^ +- alert: /m).filter((alert) => alert.includes("severity: page"));
    const byShare = paging.filter((alert) => alert.includes("/ sum("));
    expect(byShare).not.toEqual([]);
    for (const alert of byShare) expect(alert).toMatch(/and sum\(increase\(.*\)\) >= [2-9]$/m);
  });

  test("ask for labels that the metrics have, with values that there can be", async () => {
    const { families } = await fullScrape();
    const values: Record<string, readonly string[]> = {
      outcome: ["success", "replayed", "gave_up", ...Object.keys(FAILURES), ...DELIVERY_OUTCOMES],
      environment: [...ENVIRONMENTS, "$environment"],
      version: [...VERSIONS.map(({ name }) => name), ""],
      operation: ["subscription-package-topup"],
      statistic: ["p50", "p99", "max"],
      job: ["topupd"],
      kind: MAILED_PROBLEMS,
    };
    const asked = expressions.flatMap((expression) =>
      [...expression.matchAll(/\b([a-z_]+)\{([^}]*)\}/g)].flatMap(([, metric = "", matchers = ""]) =>
        [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)].map(([, label = "", value = ""]) => ({
          metric,
          label,
          values: value.split("|"),
        })),
      ),
    );
    expect(asked.length).toBeGreaterThan(30);
    for (const { metric, label, values: wanted } of asked) {
      expect(
        wanted.filter((value) => !values[label]?.includes(value)),
        `${metric}: ${label}`,
      ).toEqual([]);
      // Prometheus itself adds the job and `up`.
      if (label === "job") continue;
      const samples = [...families.values()].flatMap((family) => family.samples);
      const labels = samples.filter(({ name }) => name === metric).flatMap((sample) => Object.keys(sample.labels));
      expect(labels, metric).toContain(label);
    }
  });

  test("never take a count by itself: it begins anew with every start of the process", async () => {
    const { families } = await fullScrape();
    const counts = [...families.values()].flatMap(({ name, type, samples }) =>
      type === "counter" || type === "histogram" ? [name, ...samples.map((each) => each.name)] : [],
    );
    // The value does not matter: the alert asks whether the series is new.
    const judged = expressions.map((each) => each.replaceAll(/([a-z_]+\{[^}]*\}) unless \1 offset \d+m/g, ""));
    const bare = judged.flatMap((each) => [...each.matchAll(/(\w+\()?\b((?:topupd|process)_[a-z0-9_]+)/g)]);
    const wrong = bare.filter(([, by, name = ""]) => counts.includes(name) && by !== "rate(" && by !== "increase(");
    expect(wrong.map(([text]) => text)).toEqual([]);
    expect(bare.filter(([, by]) => by !== undefined).length).toBeGreaterThan(20);
  });
});

describe("the documentation", () => {
  test("explains every metric with its labels, and no other", async () => {
    const { families } = await fullScrape();
    const served = [...families.values()].map(({ name, samples }) => {
      const labels = Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== "le");
      return [name, new Set(labels)] as const;
    });
    const rows = tableRows(read("docs/settings.md")).filter(([name = ""]) => /^`(topupd|process)_/.test(name));
    expect(rows.filter(([, , meaning = ""]) => meaning === "")).toEqual([]);
    const explained = rows.map(([name = "", labels = ""]) => [unquote(name), new Set(quoted(labels))] as const);
    const ofSupervisor = OF_SUPERVISOR.map((name) => [name, new Set()] as const);
    expect(explained).toHaveLength(served.length + ofSupervisor.length);
    expect(new Map(explained)).toEqual(new Map([...served, ...ofSupervisor]));
  });

  test("has a section for every alert, and each alert leads to its own", () => {
    expect(alertNames.length).toBeGreaterThan(10);
    const sections = [...runbook.matchAll(/^#+ (Topupd\S+)$/gm)].map((match) => match[1]);
    expect(new Set(sections)).toEqual(new Set(alertNames));
    const links = [...alerts.matchAll(/^ +runbook: docs\/alerts\.md#(\S+)$/gm)].map((match) => match[1]);
    expect(links).toEqual(alertNames.map((name) => name.toLowerCase()));
    const severities = [...alerts.matchAll(/severity: (\w+)/g)].map((match) => match[1]);
    expect(severities).toHaveLength(alertNames.length);
    expect(severities.filter((severity) => severity !== "page" && severity !== "ticket")).toEqual([]);
  });

  test("shows every metric on the dashboard, or says what it is for", async () => {
    const { families } = await fullScrape();
    const shown = dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr)));
    const isShown = (name: string) => shown.some((each) => each.replace(/_(bucket|sum|count)$/, "") === name);
    expect([...families.keys()].filter((name) => !isShown(name))).toEqual([]);
  });
});

test("the example for Prometheus scrapes the port that compose serves metrics on, under the name that the rules go by", () => {
  const prometheus = read("deploy/monitoring/prometheus.yaml");
  const [, port] = /TOPUPD_METRICS_PORT: "(\d+)"/.exec(read("deploy/compose.yaml")) ?? [];
  const targets = [...prometheus.matchAll(/"([\w.-]+):(\d+)"/g)].map((match) => match[2]);
  expect(targets).toContain(port);
  expect(prometheus).toMatch(/^ +- job_name: topupd$/m);
  expect(prometheus).toMatch(/^ +- alerts\.yaml$/m);
});
