import { number } from "../report/rows.ts";
import type { Comparison, Figure, Results } from "../results.ts";
import type { Grown } from "./grown.ts";
import type { Loaded } from "./load.ts";
import type { StartUp } from "./start-up.ts";

/** What was measured on one database beside the load. */
export interface Measured {
  readonly grown: Grown;
  readonly startUp: StartUp;
}

/** The least of its throughput that is to be left to a database that has grown. */
const THROUGHPUT_LEFT = 0.85;
const MOST_MEMORY_MIB = 250;
const LONGEST_START_S = 1;
const LEAST_IMPORTED = 40_000;
/** A file of any size is imported in the same memory; what the garbage collector leaves lying about varies. */
const FLAT = 1.25;

/**
 * The larger databases beside the smallest, and what each has by itself.
 * @param measured the smallest first; the loads have their rounds in the same order.
 */
export function growthResults(measured: readonly Measured[], loaded: readonly Loaded[]): Results {
  return {
    comparisons: loaded.flatMap((each) => comparisonsOf(each, measured)),
    figures: [
      ...measured.map(({ grown }) => importFigure(grown)),
      ...importMemoryFigures(measured),
      ...measured.map(({ grown }) => fileFigure(grown)),
      ...measured.flatMap(startFigures),
      ...memoryFigures(measured, loaded),
    ],
    skipped: [],
  };
}

function comparisonsOf({ operation, rounds }: Loaded, measured: readonly Measured[]): Comparison[] {
  const [theirs = []] = rounds;
  const names = measured.map(({ grown }) => nameOf(grown));
  return rounds.slice(1).map((ours, index) => ({
    measured: `${operation}, ${names[index + 1]}`,
    baseline: `${names[0]}`,
    target: THROUGHPUT_LEFT,
    ours,
    theirs,
  }));
}

function importFigure(grown: Grown): Figure {
  return {
    measured: `import, ${nameOf(grown)}`,
    value: grown.imported.customersPerSecond,
    unit: "a second",
    decimals: 0,
    target: { atLeast: LEAST_IMPORTED },
    detail: "into an empty database, the start of the command included",
  };
}

function importMemoryFigures(measured: readonly Measured[]): Figure[] {
  const peaks = measured.map(({ grown }) => grown.imported.peakMiB ?? Number.NaN);
  const [least = Number.NaN] = peaks;
  return measured.map(({ grown }, index) => ({
    measured: `memory of the import, ${nameOf(grown)}`,
    value: peaks[index] ?? Number.NaN,
    unit: "MiB",
    decimals: 0,
    target: index === 0 ? undefined : { atMost: Math.round(least * FLAT) },
    detail: index === 0 ? "the most at any time" : "the most at any time; the target is that it is flat",
  }));
}

function fileFigure(grown: Grown): Figure {
  return {
    measured: `file, ${nameOf(grown)}`,
    value: grown.fileMiB,
    unit: "MiB",
    decimals: 0,
    target: undefined,
    detail: `with ${number(grown.history.transactions)} transactions`,
  };
}

function startFigures({ grown, startUp }: Measured): Figure[] {
  const figure = (measured: string, ms: number, detail: string): Figure => ({
    measured: `${measured}, ${nameOf(grown)}`,
    value: ms / 1000,
    unit: "s",
    decimals: 2,
    target: { atMost: LONGEST_START_S },
    detail,
  });
  return [
    figure("cold start to first answer", startUp.coldMs, "none of the database in the machine's memory"),
    figure("warm start to first answer", startUp.warmMs, "after a start just before"),
  ];
}

/** The peak lasts as long as the process, so that the last round of the last operation tells it. */
function memoryFigures(measured: readonly Measured[], loaded: readonly Loaded[]): Figure[] {
  return measured.map(({ grown }, index) => ({
    measured: `memory under load, ${nameOf(grown)}`,
    unit: "MiB",
    decimals: 0,
    value: loaded.at(-1)?.rounds[index]?.at(-1)?.memoryMiB ?? Number.NaN,
    target: { atMost: MOST_MEMORY_MIB },
    detail: "the most at any time, after all operations",
  }));
}

function nameOf({ history }: Grown): string {
  return `${number(history.target.customers)} customers`;
}
