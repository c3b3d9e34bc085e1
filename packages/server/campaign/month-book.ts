import type { Transaction } from "../src/domain/top-up.ts";
import { decimal } from "./month-provider.ts";
import type { Choices } from "./random.ts";

type Key = "checkoutId" | "txnId" | "udf1";

/** What is found, and what it comes to in both books. */
export interface Found {
  /** Verdict and key of everything that is no match; in any order. */
  readonly answers: string[];
  readonly total: { answers: number; theirs: bigint; ours: bigint };
}

/** One row in so many is wrong. */
const WRONG_EVERY = 40;
const WRONGS = ["forgotten", "misread", "refunded", "repeated", "unreadable", "invented"] as const;

/**
 * A partner's own book of its top-ups, as a CSV, in which some rows are wrong; and what a reconciliation of a period
 * must find of it, told by what was done to the book.
 */
export class Book {
  readonly expected: Found = { answers: [], total: { answers: 0, theirs: 0n, ours: 0n } };
  readonly key: Key;
  readonly #exponent: number;
  readonly #choices: Choices;
  readonly #isInPeriod: (at: number) => boolean;
  #rows: string[] = [];
  #invented = 0;

  constructor(key: Key, exponent: number, choices: Choices, isInPeriod: (at: number) => boolean) {
    this.key = key;
    this.#exponent = exponent;
    this.#choices = choices;
    this.#isInPeriod = isInPeriod;
  }

  /** Enters a top-up, rightly or wrongly. @param isReversed whether the provider has reversed it, which the partner knows. */
  enter(transaction: Transaction, isReversed: boolean): void {
    const { amount, at } = transaction;
    const key = transaction[this.key] as string;
    const isIn = this.#isInPeriod(at);
    const ours = isIn && !isReversed ? amount : 0n;
    const status = isReversed ? "Reversed" : "paid";
    // By the least that there is, and never to nothing.
    const misread = amount === 1n ? 2n : amount - 1n;
    const paid = isReversed ? 0n : amount;
    const wrong = this.#choices.below(WRONG_EVERY) === 0 ? this.#choices.of(WRONGS) : undefined;
    switch (wrong) {
      case "forgotten":
        // A top-up that is reversed is owed by nobody.
        if (isIn) this.#expect(isReversed ? "matched" : "ours_only", key, 0n, ours);
        break;
      case "misread":
        this.#write(key, misread, status);
        this.#expect("amount_differs", key, isReversed ? 0n : misread, ours);
        break;
      case "refunded":
        this.#write(key, amount, "refunded");
        this.#expect(isReversed ? this.#match(isIn) : "status_differs", key, 0n, ours);
        break;
      case "repeated":
        this.#write(key, amount, status);
        this.#write(key, amount, status);
        this.#expect("duplicate", key, paid, 0n);
        this.#expect("duplicate", key, paid, 0n);
        if (isIn) this.#expect("duplicate", key, 0n, ours);
        break;
      case "unreadable":
        this.#rows.push(`${key},"1,130",${status}`);
        // What is outside of the period is nothing to a row that cannot be compared.
        this.#expect("unreadable", key, 0n, ours);
        break;
      case "invented":
        this.#write(key, amount, status);
        this.#expect(this.#match(isIn), key, paid, ours);
        this.#invented += 1;
        this.#write(`never-${this.#invented}`, 7n, "paid");
        this.#expect("theirs_only", `never-${this.#invented}`, 7n, 0n);
        break;
      default:
        this.#write(key, amount, status);
        this.#expect(this.#match(isIn), key, paid, ours);
    }
  }

  /**
   * Enters a top-up that the provider reversed at a time. After the period, the partner may have closed its book of it: that
   * the top-up was paid is right there, and settled with the day of the reversal.
   */
  enterReversed(transaction: Transaction, reversedAt: number): void {
    const { amount, at } = transaction;
    const isLater = this.#isInPeriod(at) && !this.#isInPeriod(reversedAt);
    if (!isLater || this.#choices.below(2) === 0) {
      this.enter(transaction, true);
      return;
    }
    const key = transaction[this.key] as string;
    this.#write(key, amount, "paid");
    this.#expect("matched", key, amount, amount);
  }

  /** What was entered since, in no order. */
  takeRows(): string[] {
    const rows = this.#rows;
    this.#rows = [];
    return Array.from({ length: rows.length }, () => rows.splice(this.#choices.below(rows.length), 1)[0] as string);
  }

  #match(isIn: boolean): string {
    return isIn ? "matched" : "other_period";
  }

  #write(key: string, amount: bigint, status: string): void {
    this.#rows.push(`${key},${decimal(amount, this.#exponent)},${status}`);
  }

  #expect(verdict: string, key: string, theirs: bigint, ours: bigint): void {
    const { answers, total } = this.expected;
    if (verdict !== "matched") answers.push(`${verdict} ${key}`);
    total.answers += 1;
    total.theirs += theirs;
    total.ours += ours;
  }
}
