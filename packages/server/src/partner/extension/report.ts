import type { TSchema } from "typebox";
import type { Reading } from "../../domain/fields.ts";
import type { JsonObject } from "../../domain/json.ts";
import { JSON_TYPE, NEVER_KEPT } from "../failures.ts";
import type { Operation } from "../operations.ts";
import type { Caller, Ports } from "../ports.ts";
import { TOP_UPS } from "./top-ups.ts";

/* Reports for the partner itself: GET beside the versions, with the same access token. */

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
  readonly run: (ports: Ports, caller: Caller, query: JsonObject) => Promise<Reading<object>>;
}

export const REPORTS: readonly Report[] = [TOP_UPS];

const HEADERS = ["cache-control", NEVER_KEPT, "content-type", JSON_TYPE];

/** @param prefix the path before the version, in every URL. */
export function reportRoutes(ports: Ports, prefix: string): Operation[] {
  return REPORTS.map(({ name, parameters, run }) => ({
    url: `${prefix}/${name}`,
    operation: { name, version: "" },
    headers: [],
    isTopUp: false,
    isQuery: false,
    parameters: Object.keys(parameters),
    async serve(caller, query) {
      const reading = await run(ports, caller, query);
      if (!reading.ok) return { ok: false, reason: "invalid_field", fields: reading.problems };
      const body = JSON.stringify({ success: true, code: REPORTED, body: reading.value });
      return { ok: true, answer: { status: 200, headers: HEADERS, body }, isReplay: false };
    },
  }));
}
