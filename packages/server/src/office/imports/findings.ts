import type { FieldChange } from "../../domain/customer-audit.ts";
import type { HeldBack } from "../../domain/customer-import.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { CustomerRowOfFile } from "../../store/store.ts";
import type { ImportHooks } from "./file.ts";

/** A row, its first line, and its source. */
export interface NumberedRow {
  readonly line: number;
  readonly row: CustomerRowOfFile;
  readonly source: JsonObject;
}

export interface CustomersHooks extends ImportHooks {
  /** Called for each customer that is, or would be, added or changed. */
  readonly onChange?: (change: ChangedCustomer) => void;
  readonly onHeldBack: (heldBack: HeldBackSubscription, row: NumberedRow) => void;
  readonly onWarning: (warning: ImportWarning) => void;
}

export interface ChangedCustomer {
  readonly line: number;
  readonly cuid: string;
  readonly kind: "added" | "changed";
  readonly changes: readonly FieldChange[];
}

export interface HeldBackSubscription extends HeldBack {
  readonly line: number;
  readonly cuid: string;
}

/** A value of the file that is probably not meant. */
export interface ImportWarning {
  readonly line: number;
  readonly cuid: string;
  /** The odd value, and its effect. */
  readonly problem: string;
}

export interface CustomersReport {
  readonly accepted: number;
  readonly rejected: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Number of subscriptions, not of customers. */
  readonly heldBack: number;
  /** Subscriptions that run by the file's good rows. */
  readonly running: number;
  /** Subscriptions held back because the records do not say whether they hold goodwill. */
  readonly goodwillUnclear: number;
  /** Unchanged rows, older than the last row of their customer. */
  readonly stale: number;
  /** Running subscriptions that end. */
  readonly endsRunning: number;
  /** Mobile numbers such as `NULL`, taken as none. */
  readonly mobilePlaceholders: number;
  /** Other mobile numbers that are no telephone numbers. Only previews count them. */
  readonly mobilesUnreadable?: number;
}
