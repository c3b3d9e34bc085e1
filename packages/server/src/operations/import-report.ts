import type { ClockDoubt } from "../domain/clock-doubt.ts";
import type { PassedOver } from "../domain/customer-import.ts";
import type { BouquetEffect, CustomerEffect, EffectKind } from "../domain/import-effect.ts";
import type { ReadRows, RejectedLine } from "./source-rows.ts";

export interface ImportOptions {
  /** Take the good lines although others are bad. */
  readonly skipInvalid: boolean;
  /** Find out what would change, and write nothing. */
  readonly dryRun?: boolean;
  /** Somebody has looked at the clock: it is not held against what is on record. Only customers ask. */
  readonly isClockRight?: boolean;
  /** Take back, of transactions, also what was made here and the file says to have been taken back. */
  readonly ownReversals?: boolean;
  /** How the file is read; as NDJSON where nothing is said. */
  readonly readRows?: ReadRows;
  readonly onRejected: (rejected: RejectedLine) => void;
  readonly onProgress: (progress: ImportProgress) => void;
  /** Hears of each row that is, or would be, added or changed. */
  readonly onChange?: (change: ImportedRow) => void;
  /** Hears of each subscription that is not, or would not be, taken, since something granted here holds. */
  readonly onPassedOver?: (subscription: PassedOverRow) => void;
}

export interface PassedOverRow extends PassedOver {
  readonly line: number;
  readonly cuid: string;
}

/** What an import does with a customer or a top-up, by the line that says so, or with a bouquet. */
export type ImportedRow =
  | { readonly what: "transaction"; readonly line: number; readonly txnId: string; readonly kind: EffectKind }
  | ({ readonly what: "customer"; readonly line: number; readonly cuid: string } & Omit<
      CustomerEffect,
      "passedOver" | "laidOnTop" | "takesUntil"
    >)
  | ({ readonly what: "bouquet" } & BouquetEffect);

export interface ImportProgress {
  readonly step: "checking" | "comparing" | "writing";
  readonly lines: number;
}

/** What an import did, or would do. */
export interface ImportReport extends Readonly<Record<EffectKind, number>> {
  readonly accepted: number;
  readonly rejected: number;
  /** Of customers: the subscriptions that were not taken, since something granted here holds. */
  readonly passedOver?: number;
  /** Where nobody said whether the customers' dates hold the top-ups made here: on how many these were laid. */
  readonly laidOnTop?: number;
  /** Of a catalogue: the bouquets that it has no more, and whether those that stay come in another order. */
  readonly removed?: number;
  readonly reorders?: boolean;
  /** The catalogue revision that was made, if one was. */
  readonly revision?: number;
}

/** Of a file that is not taken at all. */
export function refusal(rejected: number): ImportReport {
  return { accepted: 0, rejected, added: 0, changed: 0, unchanged: 0 };
}

/** The file is not the same at the second reading. What was written before stays; importing again mends it. */
export class FileChanged extends Error {
  override readonly name = "FileChanged";
}

/** By a clock that what is on record speaks against, it would take back what was paid for. */
export class ClockInDoubt extends Error {
  override readonly name = "ClockInDoubt";
  readonly doubt: ClockDoubt;

  constructor(doubt: ClockDoubt) {
    super("the clock is in doubt");
    this.doubt = doubt;
  }
}
