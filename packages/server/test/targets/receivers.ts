import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Alert } from "../../src/domain/alert.ts";
import type { AlertEvent, ConnectionEvent, Recorded } from "../../src/domain/event.ts";
import { wall } from "../domain/builders.ts";

export interface Delivery {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver of webhooks on a free port of 127.0.0.1, closed after the test. */
export async function startReceiver(answer: (response: ServerResponse) => void = answerWith(204)) {
  const deliveries: Delivery[] = [];
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    let body = "";
    request
      .setEncoding("utf8")
      .on("data", (chunk: string) => {
        body += chunk;
      })
      .on("end", () => {
        deliveries.push({ path: request.url, headers: request.headers, body });
        answer(response);
      });
  };
  const server = createServer(listener).on("connection", () => {
    connections += 1;
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/topupd?key=letmein`,
    deliveries,
    connections: () => connections,
    close,
  };
}

export function answerWith(status: number, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => {
    response.writeHead(status, headers).end();
  };
}

/** A top-up of a set-top box in production, with changes. */
export function eventWith(changes: Partial<Recorded<ConnectionEvent>> = {}): Recorded<ConnectionEvent> {
  return {
    ...{ seq: 7, kind: "topup.recorded", at: Date.parse("2026-11-23T06:00:00Z"), partner: "Blue Wallet" },
    key: { environment: "production", cuid: "204117", service: "tv", reqId: "00012345" },
    state: {
      blocked: false,
      subscriptions: [
        {
          ...{ plan: "Family", bouquetId: "TV-FAM-30D", name: "Family (30 DAYS)", addOn: false },
          ...{ start: wall("2026-11-23 11:45:00"), end: wall("2126-12-23 11:45:00"), goodwillDays: 0 },
        },
      ],
    },
    topUp: {
      txnId: "TXN1",
      checkoutId: "CHECKOUT1",
      partnerId: 1,
      bouquetCode: "TV-FAM-30D",
      amount: 45_000n,
      commission: 0n,
    },
    ...changes,
  };
}

/** An alert about a partner. */
export function alertEvent(seq: number, changes: Partial<Alert> = {}): Recorded<AlertEvent> {
  const at = Date.parse("2026-11-23T06:00:00Z");
  const alert: Alert = {
    ...{ kind: "account.low", partnerId: 1, environment: "production", at, limit: undefined },
    ...{ low: { balance: 95_000n, below: 100_000n }, ...changes },
  };
  return { seq, kind: alert.kind, at, partner: "Blue Wallet", alert };
}
