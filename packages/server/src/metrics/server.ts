import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { BODY_TIMEOUT_MS, HEAD_LIMITS, PortGuard, urlOf } from "../system/port-guard.ts";
import { CONTENT_TYPE, type Family, writeMetrics } from "./exposition.ts";

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

export interface MetricsServer {
  /** Where, without a slash at its end. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** `GET /metrics`, and nothing else. It has a server of its own: no mistake in a proxy shows it to partners. */
export async function serveMetrics(
  address: MetricsAddress,
  collect: () => Promise<readonly Family[]>,
): Promise<MetricsServer> {
  let collecting: Promise<Buffer> | undefined;
  // Requests that come meanwhile get what is being collected: many cost no more than one.
  const share = () => {
    collecting ??= collect()
      .then((families) => Buffer.from(writeMetrics(families)))
      .finally(() => {
        collecting = undefined;
      });
    return collecting;
  };
  const guard = new PortGuard();
  const server = createServer({ ...HEAD_LIMITS, requestTimeout: BODY_TIMEOUT_MS }, ({ method, url }, response) => {
    if (method === "GET" && url?.split("?")[0] === "/metrics") void answer(response, share);
    else response.writeHead(404).end();
  });
  guard.watch(server);
  server.on("clientError", guard.onClientError);
  server.listen(address);
  await once(server, "listening");
  // A connection that cannot be taken is no reason to end the service.
  server.on("error", () => {});
  return {
    url: urlOf(server),
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(response: ServerResponse, collect: () => Promise<Buffer>): Promise<void> {
  try {
    const text = await collect();
    response.writeHead(200, { "content-type": CONTENT_TYPE }).end(text);
  } catch {
    response.writeHead(500).end();
  }
}
