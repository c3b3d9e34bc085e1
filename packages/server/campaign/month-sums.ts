import type { Transaction } from "../src/domain/top-up.ts";
import { decimal } from "./month-provider.ts";

interface Sum {
  topUps: number;
  gross: bigint;
  reversals: number;
  reversed: bigint;
}

/** Sums of a month, by day, partner, service and bouquet. */
export class Sums {
  readonly #sums = new Map<string, Sum>();

  add(partner: string, day: string, transaction: Transaction): void {
    const sum = this.#of(partner, day, transaction);
    sum.topUps += 1;
    sum.gross += transaction.amount;
  }

  takeBack(partner: string, day: string, transaction: Transaction): void {
    const sum = this.#of(partner, day, transaction);
    sum.reversals += 1;
    sum.reversed += transaction.amount;
  }

  #of(partner: string, day: string, { service, bouquetCode }: Transaction): Sum {
    const label = JSON.stringify({ day, partner, service, bouquetId: bouquetCode });
    const sum = this.#sums.get(label) ?? { topUps: 0, gross: 0n, reversals: 0, reversed: 0n };
    this.#sums.set(label, sum);
    return sum;
  }

  /** What a list knows. */
  gross(): string[] {
    return [...this.#sums]
      .flatMap(([label, { topUps, gross }]) => (topUps > 0 ? [`${label} ${topUps} ${gross}`] : []))
      .toSorted();
  }

  /** As the report's JSON has them. */
  lines(exponent: number): string[] {
    const all = [...this.#sums].map(([label, { topUps, gross, reversals, reversed }]) => {
      const taken = { topUps, gross: decimal(gross, exponent) };
      const given = { reversals, reversed: decimal(reversed, exponent), net: decimal(gross - reversed, exponent) };
      return JSON.stringify({ ...JSON.parse(label), ...taken, ...given });
    });
    return all.toSorted();
  }

  /** Days on which a partner had anything. */
  days(): number {
    return new Set([...this.#sums.keys()].map((label) => label.slice(0, label.indexOf('"service"')))).size;
  }

  words(exponent: number): string {
    const total = { topUps: 0, gross: 0n, reversals: 0, reversed: 0n };
    for (const sum of this.#sums.values()) {
      total.topUps += sum.topUps;
      total.gross += sum.gross;
      total.reversals += sum.reversals;
      total.reversed += sum.reversed;
    }
    const { topUps, gross, reversals, reversed } = total;
    const given = `${reversals} reversal${reversals === 1 ? "" : "s"} of ${decimal(reversed, exponent)}`;
    return `${topUps} top-ups of ${decimal(gross, exponent)}, ${given}: ${decimal(gross - reversed, exponent)} net`;
  }
}
