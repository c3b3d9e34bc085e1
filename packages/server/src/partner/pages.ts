import type { IncomingHttpHeaders } from "node:http";
import { isoTime } from "../domain/wall-time.ts";
import { StoreUnavailable } from "../store/errors.ts";
import type { Store } from "../store/store.ts";
import type { ServiceState } from "../system/service-state.ts";
import type { Answer, Route } from "./call.ts";
import { JSON_TYPE } from "./failures.ts";

/** A path that is read by GET and HEAD, by anybody. */
export interface Page extends Route {
  readonly load: (headers: IncomingHttpHeaders) => Promise<Answer>;
}

export function page(url: string, load: Page["load"]): Page {
  return { url, operation: undefined, headers: [], load };
}

interface HealthOptions {
  readonly store: Pick<Store, "ping">;
  readonly state: Readonly<ServiceState>;
  readonly log: (level: "info" | "warn", fields: object, message: string) => void;
  readonly isDraining: () => boolean;
}

/**
 * For the provider's own supervision, not for partners: `/healthz` says that the process lives,
 * `/readyz` that it should be sent requests. It should while only top-ups fail: look-ups still work.
 */
export function healthPages({ store, state, log, isDraining }: HealthOptions): Page[] {
  let wasAway = false;
  const ready = async () => {
    if (isDraining()) return json(503, { status: "shutting down" });
    const failure = await store.ping().then(() => undefined, describeFailure);
    const isAway = failure !== undefined;
    // Where a proxy goes by this answer, no request comes whose failure would tell why.
    if (wasAway && !isAway) log("info", {}, "the store is back");
    if (isAway && !wasAway) log("warn", failure, "the store is away");
    wasAway = isAway;
    const { recordingFailsSince, clockSetBackFrom } = state;
    return json(isAway ? 503 : 200, {
      status: isAway ? "store away" : "ready",
      ...(recordingFailsSince !== undefined && { recordingFailsSince: isoTime(recordingFailsSince) }),
      ...(clockSetBackFrom !== undefined && { clockSetBackFrom: isoTime(clockSetBackFrom) }),
    });
  };
  return [page("/healthz", async () => json(200, { status: "ok" })), page("/readyz", ready)];
}

const JSON_HEADERS = ["content-type", JSON_TYPE];

function json(status: number, value: object): Answer {
  return { status, headers: JSON_HEADERS, body: JSON.stringify(value) };
}

function describeFailure(error: unknown): { cause: string } | { err: unknown } {
  // What else comes is a defect, whose words may quote what is stored.
  return error instanceof StoreUnavailable ? { cause: error.message } : { err: error };
}
