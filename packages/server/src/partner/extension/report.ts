import { JSON_TYPE, NEVER_KEPT } from "../failures.ts";
import type { Operation } from "../operations.ts";
import type { Ports } from "../ports.ts";
import { VERSIONS } from "../versions/all.ts";
import type { Version } from "../versions/version.ts";
import { ACCOUNT } from "./account.ts";
import { ENTRIES } from "./entries.ts";
import { REPORTED, type Report } from "./shape.ts";
import { TOP_UPS } from "./top-ups.ts";
import { MOST_WAITING, Turns } from "./turns.ts";

/* Reports for the partner itself: GET, the same in every version. */

export const REPORTS: readonly Report[] = [ACCOUNT, ENTRIES, TOP_UPS];

interface ReportOptions {
  readonly ports: Ports;
  /** The path before the version, in every URL. */
  readonly prefix: string;
  /** The provider's currency code; undefined if not set. */
  readonly currency: string | undefined;
  /** Headers of every answer of a version. */
  readonly headersOf: (version: Version) => readonly string[];
}

/** The limit of lists that wait, as the headers say it. */
const LISTS = { name: "lists", quota: MOST_WAITING, windowMs: 1_000 };
const HEADERS = ["cache-control", NEVER_KEPT, "content-type", JSON_TYPE];

export function reportRoutes({ ports, prefix, currency, headersOf }: ReportOptions): Operation[] {
  const reporting = { ...ports, currency };
  const turns = new Turns();
  const routeOf = (version: Version, { name, parameters, run }: Report): Operation => ({
    url: `${prefix}/${version.name}/${name}`,
    operation: { name, version: version.name },
    headers: headersOf(version),
    isTopUp: false,
    isQuery: false,
    parameters: Object.keys(parameters),
    async serve(caller, query) {
      const work = () => run(reporting, caller, query);
      const reading = await ("cursor" in parameters ? turns.take(caller.partnerId, work) : work());
      if (reading === undefined) return { ok: false, reason: "rate_limited", retryAfterSeconds: 1, policy: LISTS };
      if (!reading.ok) return { ok: false, reason: "invalid_field", fields: reading.problems };
      const body = JSON.stringify({ success: true, code: REPORTED, body: reading.value });
      return { ok: true, answer: { status: 200, headers: HEADERS, body }, isReplay: false };
    },
  });
  return VERSIONS.flatMap((version) => REPORTS.map((report) => routeOf(version, report)));
}
