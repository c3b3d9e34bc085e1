import { type Form, OPEN_METRICS, PROMETHEUS_TEXT } from "./exposition.ts";

interface Range {
  readonly type: string;
  readonly version: string | undefined;
  /** From 0, which is a refusal, to 1. */
  readonly quality: number;
}

/** What a range is called that fits, from the most to the least particular. */
const OPEN_METRICS_TYPES = ["application/openmetrics-text", "application/*", "*/*"];
const PROMETHEUS_TYPES = ["text/plain", "text/*", "*/*"];

/**
 * Chooses the form that an Accept header likes best (RFC 9110, section 12.5.1). Where it likes both as much, it gets
 * OpenMetrics if it names that, and otherwise Prometheus's text, as who asks for nothing does, and who wants neither.
 */
export function chooseForm(accept = ""): Form {
  const ranges = readRanges(accept);
  const open = bestFitting(ranges, OPEN_METRICS_TYPES, "1.0.0");
  const plain = bestFitting(ranges, PROMETHEUS_TYPES, "0.0.4");
  const isOpen =
    open !== undefined &&
    open.quality > 0 &&
    (open.quality > (plain?.quality ?? 0) || (open.quality === plain?.quality && open.type === OPEN_METRICS_TYPES[0]));
  return isOpen ? OPEN_METRICS : PROMETHEUS_TEXT;
}

/** The most particular range that a form fits: it alone says how much the form is liked. */
function bestFitting(ranges: readonly Range[], types: readonly string[], version: string): Range | undefined {
  const fitting = ranges.filter((range) => range.version === undefined || range.version === version);
  const rank = (range: Range) => types.indexOf(range.type) * 2 + (range.version === undefined ? 1 : 0);
  return fitting.filter(({ type }) => types.includes(type)).sort((one, other) => rank(one) - rank(other))[0];
}

function readRanges(accept: string): Range[] {
  // What stands in quotes may hold the marks that divide, but none that counts here does.
  const plain = accept.toLowerCase().replace(/"([^"]*)"/g, (_, text: string) => text.replace(/[,;]/g, "_"));
  return plain.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const values = new Map(parameters.map((parameter) => parameter.split("=", 2) as [string, string | undefined]));
    return { type, version: values.get("version"), quality: readQuality(values.get("q")) };
  });
}

/** What is no quality is a refusal. */
function readQuality(text = "1"): number {
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}
