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

export interface Sample {
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
