import { type Family, type Sample, verifyHistogram } from "./metrics-text.ts";

/*
 * A strict reader of OpenMetrics 1.0, after its grammar and its rules for each type: it throws at whatever they do not
 * allow. Of what they do allow, it knows what topupd has a use for: no timestamps, no exemplars, no summaries, and every
 * family says its type.
 */

const DESCRIPTOR = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/su;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/su;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[n"\\])*)"(?:,(?=[a-zA-Z_])|$)/u;
const ESCAPED = /^(?:[^"\\]|\\[n"\\])*$/u;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf|infinity|nan)$/i;
/** What the specification wants of bounds, in the range that it wants it for. */
const BOUND = /^(?:\d+\.\d+|\d(?:\.\d+)?e[+-]\d{2}|\+Inf)$/;

/** What may stand after a family's name, by its type. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ["_total"],
  gauge: [""],
  histogram: ["_bucket", "_sum", "_count"],
  info: ["_info"],
};

interface Reading {
  readonly name: string;
  readonly said: Map<string, string>;
  readonly samples: Sample[];
}

/** The families of an exposition, by name; a name is the one in the text, which is shorter than that of a counter. */
export function readOpenMetrics(bytes: Uint8Array): Map<string, Family> {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines.pop() !== "# EOF") throw new Error("the text does not end with # EOF");
  const readings: Reading[] = [];
  for (const line of lines) readLine(line, readings);
  const families = readings.map(verified);
  verifyNames(families);
  return new Map(families.map((family) => [family.name, family]));
}

function readLine(line: string, readings: Reading[]): void {
  const current = readings.at(-1);
  const [, kind = "", name = "", said = ""] = DESCRIPTOR.exec(line) ?? [];
  if (kind === "") {
    if (current === undefined || line.startsWith("#")) fail(line);
    current.samples.push(readSample(line));
  } else if (current?.name !== name) {
    if (readings.some((reading) => reading.name === name)) throw new Error(`${name} stands in two places`);
    readings.push({ name, said: new Map([[kind, said]]), samples: [] });
  } else {
    if (current.said.has(kind) || current.samples.length > 0) fail(line);
    current.said.set(kind, said);
  }
}

function readSample(line: string): Sample {
  const [, name = "", inside = "", text = ""] = SAMPLE.exec(line) ?? fail(line);
  if (!NUMBER.test(text)) fail(line);
  const labels: Record<string, string> = {};
  for (let rest = inside; rest !== ""; ) {
    const [whole, label = "", value = ""] = LABEL.exec(rest) ?? fail(line);
    if (label in labels || label.startsWith("__")) fail(line);
    labels[label] = value.replace(/\\(.)/gu, (_, mark: string) => (mark === "n" ? "\n" : mark));
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: Number(text.replace(/inf(?:inity)?/i, "Infinity")), text };
}

function verified({ name, said, samples }: Reading): Family {
  const type = said.get("TYPE") ?? "";
  const suffixes = SUFFIXES[type] ?? fail(`${name} is of type ${type}`);
  const unit = said.get("UNIT") ?? "";
  if (unit !== "" && (type === "info" || !name.endsWith(`_${unit}`))) fail(`${name} is in ${unit}`);
  const help = said.get("HELP") ?? "";
  if (!ESCAPED.test(help)) fail(help);
  for (const sample of samples) {
    if (!suffixes.some((suffix) => sample.name === name + suffix)) fail(`${sample.name} in ${name}`);
    verifySample(sample, type);
  }
  verifySeries(samples);
  if (type === "histogram") verifyHistogram({ name, samples });
  return { name, type: type as Family["type"], help, samples };
}

function verifySample({ name, labels, value, text }: Sample, type: string): void {
  if (type === "info" && value !== 1) fail(`${name} is ${text}`);
  if (type === "counter" && !(value >= 0)) fail(`${name} is ${text}`);
  if (type !== "histogram") return;
  const { le } = labels;
  if (name.endsWith("_bucket") !== (le !== undefined) || (le !== undefined && !BOUND.test(le)))
    fail(`${name} to ${le}`);
  if (!name.endsWith("_sum") && !(Number.isInteger(value) && value >= 0)) fail(`${name} is ${text}`);
}

/** Each line once, and the lines of a series together. */
function verifySeries(samples: readonly Sample[]): void {
  const lines = new Set<string>();
  const done = new Set<string>();
  let current = "";
  for (const { name, labels } of samples) {
    const line = `${name}${seriesOf(labels)}`;
    if (lines.has(line)) throw new Error(`${line} stands twice`);
    lines.add(line);
    const { le: _le, ...others } = labels;
    const series = seriesOf(others);
    if (series === current) continue;
    if (done.has(series)) throw new Error(`${series} is scattered`);
    done.add(series);
    current = series;
  }
}

/** No family's lines may be taken for those of another. */
function verifyNames(families: readonly Family[]): void {
  const names = families.flatMap(({ name, type }) => {
    const all = new Set([name, ...(SUFFIXES[type] ?? []).map((suffix) => name + suffix)]);
    return [...all];
  });
  for (const name of names)
    if (names.indexOf(name) !== names.lastIndexOf(name)) throw new Error(`${name} may be one of two families`);
}

/** An empty label is the same as none. */
function seriesOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(
    Object.entries(labels)
      .filter(([, value]) => value !== "")
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function fail(line: string): never {
  throw new Error(`not in the form of OpenMetrics: ${line}`);
}
