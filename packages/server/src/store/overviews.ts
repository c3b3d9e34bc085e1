import type { CustomerOverview } from "../domain/customer.ts";
import type { WallTime } from "../domain/wall-time.ts";
import type { ProfileRow } from "./rows.ts";
import type { RawRow } from "./tables.ts";

/** One row for each connection of a customer, in order; one row with null columns if there is no connection. */
export type OverviewRow = ProfileRow &
  (
    | (Pick<RawRow<"connection">, "service" | "req_id" | "blocked"> & {
        readonly connection_status: RawRow<"connection">["status"];
        readonly base_end: WallTime | null;
      })
    | { readonly req_id: null }
  );

export function toOverviews(rows: readonly OverviewRow[]): CustomerOverview[] {
  const found = new Map<string, CustomerOverview & { connections: CustomerOverview["connections"][number][] }>();
  for (const row of rows) {
    let overview = found.get(row.cuid);
    if (overview === undefined) {
      const { cuid, first_name: firstName, last_name: lastName, mobile, status } = row;
      overview = { cuid, firstName, lastName, mobile: mobile ?? undefined, status, connections: [] };
      found.set(cuid, overview);
    }
    if (row.req_id === null) continue;
    const { service, req_id: reqId, connection_status: status, blocked, base_end: baseEnd } = row;
    overview.connections.push({ service, reqId, status, blocked: blocked === 1, baseEnd: baseEnd ?? undefined });
  }
  return [...found.values()];
}
