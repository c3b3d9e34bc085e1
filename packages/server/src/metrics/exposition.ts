export type Labels = Readonly<Record<string, string>>;

/** All that one name tells. */
export interface Family {
  /** As dashboards have it: with its unit last, and `_total` after that if it is a counter. */
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** A sentence without backslashes and ends of lines. */
  readonly description: string;
  /** The lines of one series stand together. */
  readonly samples: readonly Sample[];
}

interface Sample {
  /** What a histogram has after its name; nothing for all others. */
  readonly suffix?: string;
  readonly labels: Labels;
  /** Finite; a decimal that no float holds comes as a text. */
  readonly value: number | string;
}

/** A family that has one value, and no labels. */
export function single(type: "counter" | "gauge", name: string, description: string, value: number): Family {
  return { name, type, description, samples: [{ labels: {}, value }] };
}

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Prometheus's text, version 0.0.4, which every scraper reads. */
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

export interface HistogramOptions {
  readonly name: string;
  readonly description: string;
  /** Upper bounds of the buckets, rising. A last bucket without a bound is added. */
  readonly bounds: readonly number[];
  /** By which values are told apart; without it, there is one series from the start on. */
  readonly label?: string;
}

export class Histogram {
  readonly #options: HistogramOptions;
  readonly #series = new Map<string, { readonly counts: number[]; sum: number }>();

  constructor(options: HistogramOptions) {
    this.#options = options;
    if (options.label === undefined) this.#add("");
  }

  /** @param of what the label says. */
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
