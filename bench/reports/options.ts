import { parseArgs } from "node:util";
import { readCount } from "../options.ts";
import type { RoundOptions } from "../rounds.ts";

const STORES = ["sqlite", "postgres"] as const;

export interface ReportsOptions extends RoundOptions {
  readonly transactions: number;
  readonly stores: readonly (typeof STORES)[number][];
  /** Whether the results are worth keeping. */
  readonly writes: boolean;
}

const DEFAULTS = { transactions: "5000000", rounds: "7", seconds: "10" } as const;

/** @throws TypeError for what it does not know. */
export function readReportsOptions(words: readonly string[]): ReportsOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      transactions: { type: "string", default: DEFAULTS.transactions },
      rounds: { type: "string", default: DEFAULTS.rounds },
      seconds: { type: "string", default: DEFAULTS.seconds },
      only: { type: "string", multiple: true },
      write: { type: "boolean" },
    },
  });
  const { transactions, rounds, seconds, only, write } = values;
  const isFull =
    only === undefined &&
    transactions === DEFAULTS.transactions &&
    rounds === DEFAULTS.rounds &&
    seconds === DEFAULTS.seconds;
  return {
    transactions: readEven(transactions),
    rounds: readCount("rounds", rounds),
    seconds: readCount("seconds", seconds),
    stores: only === undefined ? STORES : only.map(readStore),
    writes: write ?? isFull,
  };
}

/** A customer has two transactions on average. */
function readEven(text: string): number {
  const transactions = readCount("transactions", text);
  if (transactions % 10 === 0) return transactions;
  throw new TypeError(`--transactions must be a multiple of ten, not "${text}"`);
}

function readStore(text: string): (typeof STORES)[number] {
  const store = STORES.find((name) => name === text);
  if (store === undefined) throw new TypeError(`--only must be one of ${STORES.join(", ")}, not "${text}"`);
  return store;
}
