import { JSON_TYPE, NEVER_KEPT } from "../failures.ts";
import type { Operation } from "../operations.ts";
import type { Ports } from "../ports.ts";
import { VERSIONS } from "../versions/all.ts";
import type { Version } from "../versions/version.ts";
import { ACCOUNT } from "./account.ts";
import { rememberBalances } from "./balances.ts";
import { ENTRIES } from "./entries.ts";
import { REPORTED, type Report } from "./shape.ts";
import { TOP_UPS } from "./top-ups.ts";
import { WEBHOOK } from "./webhook.ts";

/* Reports for the partner itself: GET, the same in every version. */

export const REPORTS: readonly Report[] = [ACCOUNT, ENTRIES, TOP_UPS, WEBHOOK];

interface ReportOptions {
  readonly ports: Ports;
  /** The path before the version, in every URL. */
  readonly prefix: string;
  /** The provider's currency code; undefined if not set. */
  readonly currency: string | undefined;
  /** Headers of every answer of a version. */
  readonly headersOf: (version: Version) => readonly string[];
}

const HEADERS = ["cache-control", NEVER_KEPT, "content-type", JSON_TYPE];

export function reportRoutes({ ports, prefix, currency, headersOf }: ReportOptions): Operation[] {
  const reporting = { ...ports, currency, sumBalance: rememberBalances(ports) };
  const routeOf = (version: Version, { name, parameters, run }: Report): Operation => ({
    url: `${prefix}/${version.name}/${name}`,
    operation: { name, version: version.name },
    headers: headersOf(version),
    isTopUp: false,
    isQuery: false,
    parameters: Object.keys(parameters),
    async serve(caller, query) {
      const reading = await run(reporting, caller, query);
      if (!reading.ok) return { ok: false, reason: "invalid_field", fields: reading.problems };
      const body = JSON.stringify({ success: true, code: REPORTED, body: reading.value });
      return { ok: true, answer: { status: 200, headers: HEADERS, body }, isReplay: false };
    },
  });
  return VERSIONS.flatMap((version) => REPORTS.map((report) => routeOf(version, report)));
}
