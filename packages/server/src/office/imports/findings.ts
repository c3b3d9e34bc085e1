import type { ConnectionName } from "../../domain/customer.ts";
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

/** A connection that the file states inactive although a base subscription runs. To stop it, the file must state it blocked. */
export interface ImportWarning extends ConnectionName {
  readonly kind: "running_though_inactive";
  readonly line: number;
  readonly cuid: string;
}

export interface CustomersReport {
  readonly accepted: number;
  readonly rejected: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Number of subscriptions, not of customers. */
  readonly heldBack: number;
  /** Subscriptions held back because the records do not say whether they hold goodwill. */
  readonly goodwillUnclear: number;
  /** Unchanged rows, older than the last row of their customer. */
  readonly stale: number;
  /** Running subscriptions that end. */
  readonly endsRunning: number;
}
