import type { Moment } from "../src/domain/wall-time.ts";
import { plus } from "./book.ts";

/*
 * A second, naive book of one subscription: a list of purchases in order of time, played by the platform's own dates. It
 * knows nothing of ledgers and entries.
 */

const KATHMANDU_AHEAD_MS = 5.75 * 3_600_000;

/** Sales are billing's own, and topupd knows of them once a file tells of them. */
export interface Purchase {
  readonly kind: "sale" | "top_up" | "goodwill";
  readonly at: Moment;
  readonly count: number;
  readonly unit: "month" | "day";
  readonly seq: number;
  /** Infinite if it is not. */
  reversedAt: number;
}

interface Run {
  readonly start: string;
  end: string;
  months: number;
  days: number;
}

/** The ends that purchases give, and the start of each run. */
interface PlayedOut {
  readonly run: Run | undefined;
  readonly starts: readonly string[];
}

export class PurchaseBook {
  readonly purchases: Purchase[] = [];
  /** Time up to which the last imported file has sales. */
  knownSales = 0;
  #starts: readonly string[] = [];
  #count = 0;

  /** What topupd can know of: its own grants that are not reversed by now, and the sales that files told of. */
  known(now: number, { withGoodwill = true, sales = this.knownSales } = {}): Purchase[] {
    return this.purchases.filter(({ kind, at, reversedAt }) =>
      kind === "sale" ? at.instant <= sales : reversedAt > now && (withGoodwill || kind !== "goodwill"),
    );
  }

  playOut(now: number, what = {}): PlayedOut {
    return playOut(this.known(now, what));
  }

  /** What a file tells that holds all top-ups and reversals up to one moment, and all sales up to when it was written. */
  fileOf(asOf: number, written: number): PlayedOut {
    return playOut(
      this.purchases.filter(({ kind, at, reversedAt }) =>
        kind === "sale" ? at.instant <= written : kind === "top_up" && at.instant <= asOf && reversedAt > asOf,
      ),
    );
  }

  /** Whether runs begin where they did when this was asked before, and would do so without goodwill, which no billing books. */
  keepsStarts(now: number): boolean {
    const [former, formerCount] = [this.#starts, this.#count];
    [this.#starts, this.#count] = [this.playOut(now).starts, this.known(now).length];
    const keeps = this.#count < formerCount ? isSameList(this.#starts, former) : beginsWith(this.#starts, former);
    return keeps && isSameList(this.playOut(now, { withGoodwill: false }).starts, this.#starts);
  }

  /**
   * Whether a file begins its runs where all that is known by then does, and topupd did not take the last for ended.
   * @param ownEnd what topupd had at the file's moment.
   */
  agreesWith(
    starts: readonly string[],
    ownEnd: string | undefined,
    { asOf, written, now }: { readonly asOf: number; readonly written: number; readonly now: number },
  ): boolean {
    const known = this.known(now, { sales: written });
    const held = playOut(known.filter(({ kind, at }) => kind === "sale" || at.instant <= asOf));
    const then = playOut(known.filter(({ at }) => at.instant <= asOf));
    if (ownEnd !== undefined && isLater(ownEnd, asOf) !== isLater(then.run?.end, asOf)) return false;
    return (
      isSameList(held.starts, starts) && isSameList(then.starts, starts) && beginsWith(playOut(known).starts, starts)
    );
  }
}

/** Bought before the end, it is added to it; bought at the end or later, it begins a new run. */
function playOut(purchases: readonly Purchase[]): PlayedOut {
  const starts: string[] = [];
  let run: Run | undefined;
  for (const { at, count, unit } of purchases) {
    if (run === undefined || run.end <= at.wall) {
      run = { start: at.wall, end: at.wall, months: 0, days: 0 };
      starts.push(at.wall);
    }
    if (unit === "month") run.months += count;
    else run.days += count;
    run.end = plus(run.start, run.months, run.days);
  }
  return { run, starts };
}

function beginsWith(list: readonly string[], start: readonly string[]): boolean {
  return start.every((each, index) => list[index] === each);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && beginsWith(a, b);
}

export function moment(instant: number): Moment {
  return { instant, wall: new Date(instant + KATHMANDU_AHEAD_MS).toISOString().slice(0, 19).replace("T", " ") };
}

export function instantOf(wall: string): number {
  return Date.parse(`${wall.replace(" ", "T")}Z`) - KATHMANDU_AHEAD_MS;
}

export function isLater(end: string | undefined, instant: number): boolean {
  return end !== undefined && end > moment(instant).wall;
}

export function expectSame(is: unknown, expected: unknown, what: string): void {
  const [a, b] = [JSON.stringify(is), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: ${a} is not ${b}`);
}
