import type { Connection } from "../../api/staff-api.d.ts";
import { Badge } from "../../components/display.tsx";
import { texts } from "../../texts/index.ts";

type Named = Pick<Connection, "service" | "reqId" | "status">;

const STATUS_TONES = { active: "success", inactive: "neutral", blocked: "danger" } as const;

/** Badge with the name and status of a connection. */
export function ConnectionBadge({ connection }: { connection: Named }) {
  const { status } = connection;
  return (
    <Badge tone={STATUS_TONES[status]}>
      {connectionName(connection)}
      {status === "active" ? "" : ` · ${texts.customers.statuses[status].toLowerCase()}`}
    </Badge>
  );
}

/** Name of a connection, such as `TV 000100000000001`. */
export function connectionName({ service, reqId }: Pick<Connection, "service" | "reqId">): string {
  return `${texts.common.services[service]} ${reqId}`;
}
