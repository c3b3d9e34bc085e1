import { parseArgs } from "node:util";

/** The parts of a run, by the names for `--only`. */
export const PARTS = [
  "get-customer-information",
  "get-subscription-package",
  "subscription-package-topup",
  "txn-status",
  "lone-top-up",
  "overload",
  "import",
] as const;
export type Part = (typeof PARTS)[number];

export const STORES = ["sqlite", "postgres"] as const;
type StoreName = (typeof STORES)[number];

export interface BenchOptions {
  readonly customers: number;
  readonly rounds: number;
  /** Seconds of each contestant in each round. */
  readonly seconds: number;
  readonly parts: readonly Part[];
  /** On PostgreSQL, the four operations alone are measured. */
  readonly stores: readonly StoreName[];
  /** Whether the results are worth keeping. */
  readonly writes: boolean;
}

const DEFAULTS = { customers: "200000", rounds: "5", seconds: "3" } as const;

/** @throws TypeError for what it does not know. */
export function readOptions(words: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      customers: { type: "string", default: DEFAULTS.customers },
      rounds: { type: "string", default: DEFAULTS.rounds },
      seconds: { type: "string", default: DEFAULTS.seconds },
      only: { type: "string", multiple: true },
      store: { type: "string", multiple: true },
      write: { type: "boolean" },
    },
  });
  const { only, store, write, customers, rounds, seconds } = values;
  const isFull =
    only === undefined &&
    store === undefined &&
    customers === DEFAULTS.customers &&
    rounds === DEFAULTS.rounds &&
    seconds === DEFAULTS.seconds;
  return {
    customers: readCount("customers", customers),
    rounds: readCount("rounds", rounds),
    seconds: readCount("seconds", seconds),
    parts: only === undefined ? PARTS : only.map((text) => readName("only", PARTS, text)),
    stores: store === undefined ? STORES : store.map((text) => readName("store", STORES, text)),
    writes: write ?? isFull,
  };
}

/** @throws TypeError if it is not a number of customers, rounds or seconds. */
export function readCount(name: string, text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new TypeError(`--${name} must be a whole number from 1 on, not "${text}"`);
  return Number(text);
}

function readName<Name extends string>(option: string, names: readonly Name[], text: string): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new TypeError(`--${option} must be one of ${names.join(", ")}, not "${text}"`);
  return found;
}
