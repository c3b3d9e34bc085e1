import type { TSchema } from "typebox";
import type { Reading } from "../../domain/fields.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Caller, Ports } from "../ports.ts";
import type { SumBalance } from "./balances.ts";

/* What a report for a partner is. */

export interface ReportPorts extends Ports {
  readonly currency: string | undefined;
  readonly sumBalance: SumBalance;
}

/** The success code of all reports. */
export const REPORTED = "400ac010";

export interface Report {
  /** The path after the prefix. */
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The schemas of the query parameters; each is optional. */
  readonly parameters: Readonly<Record<string, TSchema>>;
  readonly body: TSchema;
  /** A body in the documents. */
  readonly example: object;
  readonly run: (ports: ReportPorts, caller: Caller, query: JsonObject) => Promise<Reading<object>>;
}
