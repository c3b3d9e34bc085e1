import type { Json } from "./components.ts";

/** The headers that partners should know of, by their names as they are sent. */
const HEADERS: Readonly<Record<string, string>> = {
  "x-request-id": "The request's id. Keep it in your log.",
  "cache-control": "`no-store`: nobody on the way may keep the answer.",
  "www-authenticate": "`Bearer`.",
  "retry-after": "Seconds to wait before the next request.",
  "idempotent-replayed": "`true` where the top-up had been recorded by an earlier request; else it is not there.",
  deprecation: "Since when the version is deprecated, or from when it will be (RFC 9745).",
  sunset: "When the version is to end (RFC 8594).",
  link: "Where the successor version is.",
};

/** Those of the headers that partners should know of, described. */
export function describeHeaders(names: readonly string[]): Record<string, Json> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const description = HEADERS[name];
      return description === undefined ? [] : [[name, { description, schema: { type: "string" } }]];
    }),
  );
}
