import type { TheirRow, TheirStatus, Verdict } from "../src/domain/reconciliation.ts";
import type { Transaction } from "../src/domain/transaction.ts";
import type { Choices } from "./random.ts";

type Key = "checkoutId" | "txnId" | "udf1";

/** One row in so many is wrong. */
const WRONG_EVERY = 40;
const WRONGS = ["forgotten", "misread", "refunded", "repeated", "unreadable", "invented"] as const;

/**
 * A partner's own book of its top-ups, in which some rows are wrong; and what a reconciliation of a period must find of
 * it, told by what was done to the book.
 */
export class Book {
  /** Verdict and key of everything that is no match, and what it comes to in both books. */
  readonly expected = { answers: [] as string[], total: { answers: 0, ours: 0n, theirs: 0n } };
  readonly key: Key;
  readonly #choices: Choices;
  readonly #isInPeriod: (at: number) => boolean;
  readonly #rows: (Omit<TheirRow, "line"> | { readonly key: string; readonly problem: string })[] = [];
  #invented = 0;

  constructor(key: Key, choices: Choices, isInPeriod: (at: number) => boolean) {
    this.key = key;
    this.#choices = choices;
    this.#isInPeriod = isInPeriod;
  }

  /** Enters a top-up, rightly or wrongly. @param isReversed whether the provider has reversed it, which the partner knows. */
  enter(transaction: Transaction, isReversed: boolean): void {
    const { amount, at } = transaction;
    const key = transaction[this.key] as string;
    const isIn = this.#isInPeriod(at);
    const ours = isIn && !isReversed ? amount : 0n;
    const status = isReversed ? "reversed" : "success";
    const match = isIn ? "matched" : "other_period";
    // The change is the smallest amount, and the result is never zero.
    const misread = amount === 1n ? 2n : amount - 1n;
    const paid = isReversed ? 0n : amount;
    const wrong = this.#choices.below(WRONG_EVERY) === 0 ? this.#choices.of(WRONGS) : undefined;
    // Repeated rows of a reversed top-up owe nothing, and are no duplicates.
    switch (isReversed && wrong === "repeated" ? undefined : wrong) {
      case "forgotten":
        // No partner owes a reversed top-up.
        if (isIn) this.#expect(isReversed ? "matched" : "ours_only", key, 0n, ours);
        break;
      case "misread":
        this.#write(key, misread, status);
        this.#expect("amount_differs", key, isReversed ? 0n : misread, ours);
        break;
      case "refunded":
        this.#write(key, amount, "reversed");
        this.#expect(isReversed ? match : "status_differs", key, 0n, ours);
        break;
      case "repeated":
        this.#write(key, amount, status);
        this.#write(key, amount, status);
        this.#expect("duplicate", key, paid, 0n);
        this.#expect("duplicate", key, paid, 0n);
        if (isIn) this.#expect("duplicate", key, 0n, ours);
        break;
      case "unreadable":
        this.#rows.push({ key, problem: "no amount" });
        // A row that cannot be compared does not match top-ups outside of the period.
        this.#expect("unreadable", key, 0n, ours);
        break;
      case "invented":
        this.#write(key, amount, status);
        this.#expect(match, key, paid, ours);
        this.#invented += 1;
        this.#write(`never-${this.#invented}`, 7n, "success");
        this.#expect("theirs_only", `never-${this.#invented}`, 7n, 0n);
        break;
      default:
        this.#write(key, amount, status);
        this.#expect(match, key, paid, ours);
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
    this.#write(key, amount, "success");
    this.#expect("matched", key, amount, amount);
  }

  /** The rows of its file, in no order. */
  async *rows() {
    const left = [...this.#rows];
    for (let line = 1; left.length > 0; line += 1) {
      const [row] = left.splice(this.#choices.below(left.length), 1);
      if (row !== undefined) yield { line, ...row };
    }
  }

  #write(key: string, amount: bigint, status: TheirStatus): void {
    this.#rows.push({ key, amount, status });
  }

  #expect(verdict: Verdict, key: string, theirs: bigint, ours: bigint): void {
    const { answers, total } = this.expected;
    if (verdict !== "matched") answers.push(`${verdict} ${key}`);
    total.answers += 1;
    total.theirs += theirs;
    total.ours += ours;
  }
}
