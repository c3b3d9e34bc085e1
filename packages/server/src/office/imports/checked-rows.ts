import { portionsOf } from "../../domain/portions.ts";
import type { ConfirmedCustomer } from "../../store/store.ts";
import { CUSTOMERS_AT_ONCE, type NumberedRow } from "./rows.ts";

/** More rows that may change something are not kept. */
export const MOST_KEPT = 5_000;

/** A part of a customers file that was checked. */
export interface CheckedPart {
  /** Rows that may change something. */
  readonly changing: readonly NumberedRow[];
  /** Customers whose rows state what is stored. */
  readonly unchanged: readonly ConfirmedCustomer[];
  /** Its last line. */
  readonly lines: number;
}

/** Keeps the rows to write of a checked file, unless so many change something that the file must be read again. */
export class CheckedRows {
  readonly #changing: NumberedRow[] = [];
  readonly #unchanged: ConfirmedCustomer[] = [];
  #lines = 0;
  #isWhole = true;

  add({ changing, unchanged, lines }: CheckedPart): void {
    if (!this.#isWhole) return;
    this.#changing.push(...changing);
    this.#unchanged.push(...unchanged);
    this.#lines = lines;
    if (this.#changing.length <= MOST_KEPT) return;
    this.#isWhole = false;
    this.#changing.length = 0;
    this.#unchanged.length = 0;
  }

  /** The parts to write; undefined if the file must be read again. */
  parts(): Iterable<CheckedPart> | undefined {
    return this.#isWhole ? this.#portions() : undefined;
  }

  *#portions(): Generator<CheckedPart> {
    for (const changing of portionsOf(this.#changing, CUSTOMERS_AT_ONCE))
      yield { changing, unchanged: [], lines: changing.at(-1)?.line ?? 0 };
    for (const unchanged of portionsOf(this.#unchanged, CUSTOMERS_AT_ONCE))
      yield { changing: [], unchanged, lines: this.#lines };
  }
}
