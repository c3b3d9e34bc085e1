import { type Answer, NO_TALLY, type Tally, tally, type Verdict } from "../domain/reconciliation.ts";
import { Partitions } from "./partitions.ts";
import { answerRecord, readAnswer } from "./reconcile-records.ts";
import type { Scratch } from "./scratch.ts";

export interface SortedAnswersOptions {
  /** Of the partner's file. */
  readonly lastLine: number;
  /** That were read. */
  readonly topUps: number;
  /** Whether what matches is kept too, and not only counted. */
  readonly isAll: boolean;
}

/** As many as make each small enough to be put in order in memory. */
const BUCKETS = 256;

/**
 * Counts answers, and gives them back in an order that says something: the rows in that of the file, and then the
 * top-ups that it lacks, oldest first.
 */
export class SortedAnswers {
  readonly verdicts = new Map<Verdict, Tally>();
  total = NO_TALLY;
  readonly #options: SortedAnswersOptions;
  readonly #buckets: Partitions;

  constructor(scratch: Scratch, options: SortedAnswersOptions) {
    this.#options = options;
    this.#buckets = new Partitions(scratch, BUCKETS);
  }

  add(answer: Answer): void {
    const { verdict } = answer;
    this.verdicts.set(verdict, tally(this.verdicts.get(verdict) ?? NO_TALLY, answer));
    this.total = tally(this.total, answer);
    if (verdict === "matched" && !this.#options.isAll) return;
    const { lastLine, topUps } = this.#options;
    this.#buckets.add(Math.floor((this.#placeOf(answer) * BUCKETS) / (lastLine + topUps + 1)), answerRecord(answer));
  }

  spill(): Promise<void> {
    return this.#buckets.spill();
  }

  async *inOrder(): AsyncGenerator<readonly Answer[]> {
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      const answers: Answer[] = [];
      for await (const records of this.#buckets.take(bucket)) {
        for (const record of records) answers.push(readAnswer(record));
      }
      yield answers.sort((a, b) => this.#placeOf(a) - this.#placeOf(b));
    }
  }

  /** From 0 to what all lines and top-ups together are. */
  #placeOf({ theirs, ours }: Answer): number {
    const { lastLine, topUps } = this.#options;
    return theirs === undefined ? lastLine + topUps - (ours?.newer ?? 0) : theirs.line;
  }
}
