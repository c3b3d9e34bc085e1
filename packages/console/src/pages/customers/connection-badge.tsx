import type { Connection } from "../../api/staff-api.d.ts";
import { texts } from "../../texts/index.ts";

export const STATUS_TONES = { active: "success", inactive: "neutral", blocked: "danger" } as const;

/** Name of a connection, such as `TV 000100000000001`. */
export function connectionName({ service, reqId }: Pick<Connection, "service" | "reqId">): string {
  return `${texts.common.services[service]} ${reqId}`;
}
