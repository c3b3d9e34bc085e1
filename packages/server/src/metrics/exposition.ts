import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { BODY_TIMEOUT_MS, HEAD_LIMITS, PortGuard, urlOf } from "../system/port-guard.ts";

export type Labels = Readonly<Record<string, string>>;

/** All samples of one metric. */
export interface Family {
  /** Prometheus name: the unit comes last, then `_total` for a counter. */
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** One sentence without backslashes and line breaks. */
  readonly description: string;
  /** Lines of one series are adjacent. */
  readonly samples: readonly Sample[];
}

interface Sample {
  /** Suffix of a histogram's line. */
  readonly suffix?: string;
  readonly labels: Labels;
  /** A finite number, or a decimal text if a float would be inexact. */
  readonly value: number | string;
}

/** A family with one value and no labels. */
export function single(type: "counter" | "gauge", name: string, description: string, value: number): Family {
  return { name, type, description, samples: [{ labels: {}, value }] };
}

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Prometheus's text format, version 0.0.4. */
export function writeMetrics(families: readonly Family[]): string {
  return families
    .map(({ name, type, description, samples }) => {
      const lines = samples.map(
        ({ suffix = "", labels, value }) => `${name}${suffix}${writeLabels(labels)} ${value}\n`,
      );
      return `# HELP ${name} ${description}\n# TYPE ${name} ${type}\n${lines.join("")}`;
    })
    .join("");
}

function writeLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/["\\\n]/g, escaped)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(character: string): string {
  return character === "\n" ? "\\n" : `\\${character}`;
}

interface HistogramOptions {
  readonly name: string;
  readonly description: string;
  /** Upper bounds of the buckets, rising. A last bucket without a bound is added. */
  readonly bounds: readonly number[];
  /** Name of the label that separates series; without it, there is one series, which starts at 0. */
  readonly label?: string;
}

export class Histogram {
  readonly #options: HistogramOptions;
  readonly #series = new Map<string, { readonly counts: number[]; sum: number }>();

  constructor(options: HistogramOptions) {
    this.#options = options;
    if (options.label === undefined) this.#add("");
  }

  /** @param of value of the label. */
  record(value: number, of = ""): void {
    const series = this.#series.get(of) ?? this.#add(of);
    const bucket = this.#options.bounds.findIndex((bound) => value <= bound);
    const index = bucket === -1 ? this.#options.bounds.length : bucket;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += value;
  }

  collect(): Family {
    const { name, description, bounds, label } = this.#options;
    const written = [...bounds.map((bound) => (Number.isInteger(bound) ? `${bound}.0` : String(bound))), "+Inf"];
    const samples = [...this.#series].flatMap(([of, { counts, sum }]) => {
      const labels: Labels = label === undefined ? {} : { [label]: of };
      let count = 0;
      const buckets = written.map((le, index) => {
        count += counts[index] ?? 0;
        return { suffix: "_bucket", labels: { ...labels, le }, value: count };
      });
      return [...buckets, { suffix: "_sum", labels, value: sum }, { suffix: "_count", labels, value: count }];
    });
    return { name, type: "histogram", description, samples };
  }

  #add(of: string) {
    const series = { counts: [], sum: 0 };
    this.#series.set(of, series);
    return series;
  }
}

/** Gauges of a service that show the largest value of its processes. Others show the sum. */
const LARGEST = new Set(["topupd_event_loop_delay_seconds", "topupd_build_info", "process_start_time_seconds"]);
/** Gauges that show the smallest: the service is up only if all its processes are. */
const SMALLEST = new Set(["topupd_store_up"]);

/** Merges the metrics of a service's processes into one. */
export function mergeFamilies(processes: readonly (readonly Family[])[]): Family[] {
  const merged = new Map<string, Family>();
  for (const family of processes.flat()) {
    const known = merged.get(family.name);
    merged.set(family.name, known === undefined ? family : { ...known, samples: mergeSamples(known, family) });
  }
  return [...merged.values()];
}

/** The metrics that stay true after a process has ended. */
export function countersOf(families: readonly Family[]): Family[] {
  return families.filter(({ type }) => type !== "gauge");
}

function mergeSamples({ name, samples }: Family, others: Family): Sample[] {
  const merged = new Map(samples.map((sample) => [keyOf(sample), sample]));
  for (const sample of others.samples) {
    const known = merged.get(keyOf(sample));
    merged.set(keyOf(sample), known === undefined ? sample : { ...known, value: mergeValues(name, known, sample) });
  }
  return [...merged.values()];
}

function keyOf({ suffix = "", labels }: Sample): string {
  return JSON.stringify([suffix, Object.entries(labels)]);
}

function mergeValues(name: string, { value: a }: Sample, { value: b }: Sample): Sample["value"] {
  if (typeof a === "string" || typeof b === "string") return addDecimals(String(a), String(b));
  if (LARGEST.has(name)) return Math.max(a, b);
  return SMALLEST.has(name) ? Math.min(a, b) : a + b;
}

/** Adds decimals exactly. @param a a decimal with as many digits as `b` after the point. */
function addDecimals(a: string, b: string): string {
  const [, decimals = ""] = a.split(".");
  const sum = String(BigInt(a.replace(".", "")) + BigInt(b.replace(".", ""))).padStart(decimals.length + 1, "0");
  return decimals === "" ? sum : `${sum.slice(0, -decimals.length)}.${sum.slice(-decimals.length)}`;
}

export interface MetricsServer {
  /** URL without a slash at the end. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Serves only `GET /metrics`, on a port of its own, so that a misconfigured proxy never shows it to partners. */
export async function serveMetrics(
  address: { readonly host: string; readonly port: number },
  collect: () => Promise<readonly Family[]>,
): Promise<MetricsServer> {
  let collecting: Promise<Buffer> | undefined;
  // Concurrent requests share one collection.
  const share = () => {
    collecting ??= collect()
      .then((families) => Buffer.from(writeMetrics(families)))
      .finally(() => {
        collecting = undefined;
      });
    return collecting;
  };
  const guard = new PortGuard();
  const server = createServer({ ...HEAD_LIMITS, requestTimeout: BODY_TIMEOUT_MS }, ({ method, url }, response) => {
    if (method === "GET" && url?.split("?")[0] === "/metrics") void answer(response, share);
    else response.writeHead(404).end();
  });
  guard.watch(server);
  server.on("clientError", guard.onClientError);
  server.listen(address);
  await once(server, "listening");
  // A failed connection must not end the service.
  server.on("error", () => {});
  return {
    url: urlOf(server),
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(response: ServerResponse, collect: () => Promise<Buffer>): Promise<void> {
  try {
    const text = await collect();
    response.writeHead(200, { "content-type": CONTENT_TYPE }).end(text);
  } catch {
    response.writeHead(500).end();
  }
}
