import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Family, Form } from "./exposition.ts";
import type { MetricsAddress } from "./metrics.ts";
import { chooseForm } from "./negotiate.ts";

/** Scrapers are few; nobody else has anything to ask here. */
const MAX_CONNECTIONS = 16;
const REQUEST_TIMEOUT_MS = 5_000;
/** Node's own half minute would let slow requests go on for as long. */
const CHECKING_INTERVAL_MS = 1_000;
/** How long an answer may lie unread. */
const UNREAD_TIMEOUT_MS = 30_000;

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
  const readings = new Map<Form, Promise<string>>();
  // Whoever asks while a scrape is under way shares it: however many ask, it costs no more than one of each form.
  const readOnce = (form: Form) => {
    const reading =
      readings.get(form) ??
      collect()
        .then(form.write)
        .finally(() => readings.delete(form));
    readings.set(form, reading);
    return reading;
  };
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
    },
    ({ method, url, headers: { accept } }, response) => {
      const form = chooseForm(accept);
      if (method === "GET" && url?.split("?")[0] === "/metrics") void answer(response, form, readOnce(form));
      else response.writeHead(404).end();
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(UNREAD_TIMEOUT_MS);
  server.listen(address);
  await once(server, "listening");
  // A connection that cannot be taken is no reason to end the service.
  server.on("error", () => {});
  return {
    url: urlOf(server.address() as AddressInfo),
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(response: ServerResponse, { contentType }: Form, reading: Promise<string>): Promise<void> {
  try {
    const text = await reading;
    response.writeHead(200, { "content-type": contentType, vary: "accept" }).end(text);
  } catch {
    response.writeHead(500).end();
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
