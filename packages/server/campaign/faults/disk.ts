import { closeSync, mkdirSync, openSync, readSync, realpathSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { kill } from "../kill.ts";
import { compileLibrary, lacksCompiler } from "../preload.ts";
import { signalProcess } from "../processes.ts";
import type { Choices } from "../random.ts";
import { type Blow, PAUSE_MS, untilStruck } from "./blows.ts";

/** The order for no fault. */
const NOTHING = 0;

interface Fault {
  readonly name: string;
  /** The order, a number of disk.c. */
  readonly what: number;
  /** How many writes or flushes fail at most, and for how long from the first on. */
  readonly times: number;
  readonly forMs: (choices: Choices) => number;
  readonly hangMs?: (choices: Choices) => number;
}

const EVER = 1_000_000_000;
const BRIEFLY = (choices: Choices) => 100 + choices.below(1_000);
/** A process that hangs for 10 s is replaced. */
const FREEZES = (choices: Choices) => choices.of([200, 200, 1_000, 1_000, 4_000, 14_000]);
const HANGS = (choices: Choices) => choices.of([500, 500, 500, 3_000, 3_000, 9_000, 28_000]);

const FAULTS: readonly Fault[] = [
  { name: "failed writes", what: 1, times: 3, forMs: BRIEFLY },
  { name: "full disks", what: 2, times: EVER, forMs: (choices) => 500 + choices.below(3_000) },
  { name: "short writes", what: 3, times: 20, forMs: BRIEFLY },
  { name: "processes killed at a write", what: 4, times: 1, forMs: BRIEFLY },
  { name: "processes frozen at a write", what: 5, times: 1, forMs: FREEZES },
  { name: "failed flushes", what: 6, times: 2, forMs: BRIEFLY },
  { name: "hanging flushes", what: 7, times: 1, forMs: HANGS, hangMs: HANGS },
  { name: "processes killed at a flush", what: 8, times: 1, forMs: BRIEFLY },
  { name: "processes killed after a flush", what: 9, times: 1, forMs: BRIEFLY },
  { name: "processes frozen at a flush", what: 10, times: 1, forMs: FREEZES },
];

/** Writes and flushes before the fault, so that it strikes anywhere in a commit or checkpoint. */
const BEFORE = 40;

/** The file of orders that disk.c maps: six little-endian integers of 32 bits. */
class Orders {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "w+");
    this.give([NOTHING, 0, 0, 0, 0, 0]);
  }

  give(orders: readonly number[]): void {
    writeSync(this.#file, Int32Array.from(orders), 0, orders.length * 4, 0);
  }

  /** How many writes or flushes were struck, and the last process of them. */
  struck(): { readonly times: number; readonly pid: number } {
    const read = new Int32Array(6);
    readSync(this.#file, read, 0, 24, 0);
    return { times: read[4] as number, pid: read[5] as number };
  }

  close(): void {
    closeSync(this.#file);
  }
}

function blowOf({ name, what, times, forMs, hangMs }: Fault, orders: Orders): Blow {
  return {
    name,
    async strike(_, choices) {
      const milliseconds = hangMs?.(choices) ?? 0;
      // The order comes last: what it needs is there already.
      orders.give([NOTHING, choices.below(BEFORE), times, milliseconds, 0, 0]);
      orders.give([what]);
      const hasStruck = await untilStruck(() => orders.struck().times > 0);
      if (hasStruck) await sleep(milliseconds > 0 ? milliseconds : forMs(choices));
      orders.give([NOTHING]);
      // A frozen process that was not replaced goes on.
      if (name.includes("frozen") && hasStruck) signalProcess(orders.struck().pid, "SIGCONT");
      return hasStruck ? 1 : 0;
    },
  };
}

export interface DiskOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly workers?: number;
  readonly cwd: string;
}

/**
 * A service on SQLite under load, whose disk fails, is full, writes half, hangs, or whose processes are killed or frozen at
 * a write or flush. @throws Error that names the round with a violation.
 */
export async function disk({ seed, rounds, workers = 2, cwd }: DiskOptions): Promise<string> {
  const lacking = lacksCompiler();
  if (lacking !== undefined) return lacking;
  const data = join(realpathSync(cwd), "data");
  mkdirSync(data);
  const library = compileLibrary(new URL("disk.c", import.meta.url), cwd);
  const path = join(cwd, "orders");
  const orders = new Orders(path);
  const env = { LD_PRELOAD: library, FAULT_FOLDER: data, FAULT_FILE: path };
  try {
    const blows = FAULTS.map((fault) => blowOf(fault, orders));
    return await kill({ seed, rounds, workers: Math.max(workers, 2), blows, pauseMs: PAUSE_MS, cwd: data, env });
  } finally {
    orders.close();
  }
}
