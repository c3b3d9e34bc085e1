export type Labels = Readonly<Record<string, string>>;

/** All that one name tells. */
export interface Family {
  /** As dashboards have it: with its unit last, and `_total` after that if it is a counter. */
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram" | "info";
  /** A sentence without quotes, backslashes and ends of lines, which the two forms would write differently. */
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

/** A way to write down what was measured. */
export interface Form {
  readonly contentType: string;
  readonly write: (families: readonly Family[]) => string;
}

/**
 * OpenMetrics 1.0. A family is called there by what stands before `_total` or `_info`, and names its unit. When a series
 * began is not told: to a Prometheus that does not ask for it, that would be one more series for each.
 */
export const OPEN_METRICS: Form = {
  contentType: "application/openmetrics-text; version=1.0.0; charset=utf-8",
  write: (families) => `${families.map(writeFamily).join("")}# EOF\n`,
};

/** Prometheus's own text, version 0.0.4, which every scraper reads. */
export const PROMETHEUS_TEXT: Form = {
  contentType: "text/plain; version=0.0.4; charset=utf-8",
  write: (families) =>
    families
      .map(({ name, type, description, samples }) => {
        const known = type === "info" ? "gauge" : type;
        return `# HELP ${name} ${description}\n# TYPE ${name} ${known}\n${writeSamples(name, samples)}`;
      })
      .join(""),
};

const UNIT = /_(seconds|bytes)$/;

function writeFamily({ name, type, description, samples }: Family): string {
  const family = name.replace(/_(total|info)$/, "");
  const [, unit] = UNIT.exec(family) ?? [];
  const ofUnit = unit === undefined ? "" : `# UNIT ${family} ${unit}\n`;
  return `# TYPE ${family} ${type}\n${ofUnit}# HELP ${family} ${description}\n${writeSamples(name, samples)}`;
}

/** The lines of the values are the same in both forms, so that the series are the same whoever asks. */
function writeSamples(name: string, samples: readonly Sample[]): string {
  return samples.map(({ suffix = "", labels, value }) => `${name}${suffix}${writeLabels(labels)} ${value}\n`).join("");
}

function writeLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/["\\\n]/g, escaped)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(character: string): string {
  return character === "\n" ? "\\n" : `\\${character}`;
}
