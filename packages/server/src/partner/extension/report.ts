import { JSON_TYPE, NEVER_KEPT } from "../failures.ts";
import type { Operation } from "../operations.ts";
import type { Ports } from "../ports.ts";
import { ACCOUNT } from "./account.ts";
import { ENTRIES } from "./entries.ts";
import { REPORTED, type Report } from "./shape.ts";
import { TOP_UPS } from "./top-ups.ts";
import { MOST_WAITING, Turns } from "./turns.ts";

/* Reports for the partner itself: GET beside the versions, with the same access token. */

export const REPORTS: readonly Report[] = [ACCOUNT, ENTRIES, TOP_UPS];

interface ReportOptions {
  readonly ports: Ports;
  /** The path before the version, in every URL. */
  readonly prefix: string;
  /** The provider's currency code; undefined if not set. */
  readonly currency: string | undefined;
}

/** The limit of lists that wait, as the headers say it. */
const LISTS = { name: "lists", quota: MOST_WAITING, windowMs: 1_000 };
const HEADERS = ["cache-control", NEVER_KEPT, "content-type", JSON_TYPE];

export function reportRoutes({ ports, prefix, currency }: ReportOptions): Operation[] {
  const reporting = { ...ports, currency };
  const turns = new Turns();
  return REPORTS.map(({ name, parameters, run }) => ({
    url: `${prefix}/${name}`,
    operation: { name, version: "" },
    headers: [],
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
  }));
}
