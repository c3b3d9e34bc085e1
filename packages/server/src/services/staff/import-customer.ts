import type { Environment } from "../../domain/customer.ts";
import type { CustomerEffect } from "../../domain/customer-audit.ts";
import type { FieldProblem } from "../../domain/fields.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { GoodwillReading } from "../../domain/ledger.ts";
import type { AsOfProblem } from "../../domain/ledger-import.ts";
import type { FileRules } from "../../store/store.ts";
import { type Actor, attributionAt, momentOf, type Ports } from "../ports.ts";
import { customerRowReader } from "./customer-rows.ts";

export interface CustomerImport {
  readonly environment: Environment;
  /** As a customers file has it. */
  readonly row: JsonObject;
  /** Of a row that does not say it itself, as in a file. */
  readonly asOf?: string | undefined;
  /** Of a row that does not say it itself. */
  readonly goodwill?: GoodwillReading | undefined;
  /** Records of more than 35 days ago are meant. */
  readonly oldRecords?: boolean;
  /** The row may end what was paid for. */
  readonly allowShorter?: boolean;
  /** Finds out what would change, and writes nothing. */
  readonly dryRun?: boolean;
}

export type CustomerImported =
  | { readonly kind: "settled"; readonly effect: CustomerEffect }
  | { readonly kind: "bad_row"; readonly problems: readonly FieldProblem[] }
  | { readonly kind: "as_of_refused"; readonly problem: AsOfProblem };

/** Lays one row of a customers file over what is stored of its customer, as {@link importCustomers} does with many. */
export async function importCustomer(ports: Ports, actor: Actor, request: CustomerImport): Promise<CustomerImported> {
  const { store } = ports;
  const { environment, row, allowShorter = false, dryRun = false } = request;
  const read = await customerRowReader(ports, request);
  if (typeof read === "string") return { kind: "as_of_refused", problem: read };
  const reading = read({ line: 1, value: { ok: true, value: row } });
  if (!reading.ok) return { kind: "bad_row", problems: reading.problems };
  const now = momentOf(ports);
  const { cuid } = reading.value.stated;
  const rules: FileRules = { now, mode: "import", toleranceDays: 1, allowShorter: new Set(allowShorter ? [cuid] : []) };
  const by = attributionAt(now.instant, actor);
  const [effect] = dryRun
    ? await store.previewCustomers(environment, [reading.value], rules)
    : await store.importCustomers(environment, [reading.value], by, rules);
  if (effect === undefined) throw new Error("a row was settled, and nothing is said of it");
  return { kind: "settled", effect };
}
