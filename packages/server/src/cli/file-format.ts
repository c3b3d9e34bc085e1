import { Option } from "commander";

const FORMATS = ["ndjson", "csv"] as const;

export type FileFormat = (typeof FORMATS)[number];

export function formatOption(fallback: string): Option {
  return new Option("--format <FORMAT>", `the file's format; if left out, ${fallback}`).choices(FORMATS);
}

/** As said, or as the file's name ends. */
export function formatOf(said: FileFormat | undefined, file: string | undefined): FileFormat {
  return said ?? (file?.toLowerCase().endsWith(".csv") ? "csv" : "ndjson");
}
