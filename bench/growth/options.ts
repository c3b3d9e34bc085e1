import { parseArgs } from "node:util";
import { readCount } from "../options.ts";
import type { RoundOptions } from "../rounds.ts";
import { MOST_CUSTOMERS } from "./customers.ts";

export interface GrowthOptions extends RoundOptions {
  /** Of each database, the fewest first. */
  readonly customers: readonly number[];
  /** Whether the results are worth keeping. */
  readonly writes: boolean;
}

const DEFAULTS = { customers: "50000,500000,5000000", rounds: "7", seconds: "3" } as const;

/** @throws TypeError for what it does not know. */
export function readGrowthOptions(words: readonly string[]): GrowthOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      customers: { type: "string", default: DEFAULTS.customers },
      rounds: { type: "string", default: DEFAULTS.rounds },
      seconds: { type: "string", default: DEFAULTS.seconds },
      write: { type: "boolean" },
    },
  });
  const { customers, rounds, seconds, write } = values;
  const isFull = customers === DEFAULTS.customers && rounds === DEFAULTS.rounds && seconds === DEFAULTS.seconds;
  return {
    customers: readSizes(customers),
    rounds: readCount("rounds", rounds),
    seconds: readCount("seconds", seconds),
    writes: write ?? isFull,
  };
}

function readSizes(text: string): number[] {
  const sizes = text.split(",").map((size) => readCount("customers", size));
  if (sizes.some((size, index) => size > MOST_CUSTOMERS || size <= (sizes[index - 1] ?? 0)))
    throw new TypeError(`--customers must be numbers up to ${MOST_CUSTOMERS}, each larger than the one before`);
  return sizes;
}
