/*
 * A strict reader of Prometheus's text format, version 0.0.4: it throws at whatever the format does not allow, and at
 * whatever cannot be true of a counter or a histogram.
 */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** As it was written. */
  readonly text: string;
}

export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: readonly Sample[];
}

const HELP = /^# HELP ([a-z][a-z0-9_]*) (\S.*)$/;
const TYPE = /^# TYPE ([a-z][a-z0-9_]*) (counter|gauge|histogram)$/;
const SAMPLE = /^([a-z][a-z0-9_]*)(?:\{(.+)\})? (\S+)$/s;
const LABEL = /^([a-z][a-z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;
const NUMBER = /^-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?$/;

/** The metrics of a scrape, by name. */
export function readMetrics(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const blocks = text.trimEnd().split(/\n(?=# HELP )/);
  const families = blocks.map((block) => readFamily(block.split("\n")));
  const byName = new Map(families.map((family) => [family.name, family]));
  if (byName.size !== families.length) throw new Error("a metric stands twice");
  return byName;
}

function readFamily([help = "", type = "", ...lines]: readonly string[]): Family {
  const [, name = "", description = ""] = HELP.exec(help) ?? fail(help);
  const [, typed, kind] = TYPE.exec(type) ?? fail(type);
  if (typed !== name) fail(type);
  const family = { name, type: kind as Family["type"], help: description, samples: lines.map(readSample) };
  const seen = new Set(family.samples.map(({ name, labels }) => `${name}${seriesOf(labels)}`));
  if (seen.size !== family.samples.length) throw new Error(`${name} has a series twice`);
  if (family.type === "histogram") verifyHistogram(family);
  else for (const sample of family.samples) if (sample.name !== name) fail(sample.name);
  if (family.type === "counter") verifyCounter(family);
  return family;
}

function readSample(line: string): Sample {
  const [, name = "", labels = "", text = ""] = SAMPLE.exec(line) ?? fail(line);
  if (!NUMBER.test(text)) fail(line);
  return { name, labels: readLabels(labels), value: Number(text), text };
}

function readLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== ""; ) {
    const [whole, name = "", value = ""] = LABEL.exec(rest) ?? fail(text);
    if (name in labels) fail(text);
    labels[name] = value.replace(/\\(.)/g, (_, mark: string) => (mark === "n" ? "\n" : mark));
    rest = rest.slice(whole.length);
  }
  return labels;
}

function verifyCounter({ name, samples }: Family): void {
  if (!name.endsWith("_total")) throw new Error(`${name} is a counter, and does not end in _total`);
  if (samples.some(({ value }) => value < 0)) throw new Error(`${name} is below zero`);
}

/** @throws where the samples cannot be those of a histogram. */
function verifyHistogram({ name, samples }: Pick<Family, "name" | "samples">): void {
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _le, ...labels } = sample.labels;
    const key = seriesOf(labels);
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [labels, of] of series) {
    const buckets = of.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map((sample) => Number(sample.labels["le"]?.replace("+Inf", "Infinity")));
    const counts = buckets.map(({ value }) => value);
    const total = of.filter((sample) => sample.name === `${name}_count`).map(({ value }) => value);
    const sums = of.filter((sample) => sample.name === `${name}_sum`);
    const isWhole =
      of.length === buckets.length + 2 && sums.length === 1 && total.length === 1 && counts.at(-1) === total[0];
    if (!isWhole || bounds.at(-1) !== Number.POSITIVE_INFINITY || !isRising(bounds, true) || !isRising(counts, false))
      throw new Error(`${name}${labels} is no histogram`);
  }
}

/** The same text for the same labels, in whatever order they come. */
function seriesOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(labels, Object.keys(labels).sort());
}

function isRising(values: readonly number[], strictly: boolean): boolean {
  return values.every((value, index) => {
    const before = values[index - 1];
    return before === undefined || (strictly ? value > before : value >= before);
  });
}

function fail(line: string): never {
  throw new Error(`not in Prometheus's format: ${line}`);
}
