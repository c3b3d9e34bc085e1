import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Spent } from "./attempts.ts";
import { isSuccess, type ReceivedHeaders } from "./exchange.ts";
import type { Delivery, WebhookFacts } from "./facts.ts";
import { type ConformanceOptions, type WebhookOptions, WrongOption } from "./options.ts";
import { findOffer } from "./plan.ts";
import { PRACTICE_CUID, type Rehearsal, reasonNotTo } from "./practice.ts";
import { readCheckoutId } from "./read.ts";
import { asText, member } from "./shape.ts";
import { NO_LONGER_OFFERED } from "./spend.ts";

/* Receives topupd's webhook for a partner. Other facts of the partner come too, and are accepted. */

/** The practice connection whose top-ups topupd reverses after ten seconds. */
const REVERSED = { cuid: PRACTICE_CUID, service: "internet", reqId: "reversed" } as const;
/** Time from the top-up in which both facts must arrive. */
const WITHIN_MS = 60_000;
const LOOKED_EVERY_MS = 1_000;
const BODY_MAX_BYTES = 64 * 1024;
/** Deliveries of one top-up that are kept. */
const MOST_KEPT = 20;

export interface Receiver {
  /** Keeps from now on what arrives about a checkoutId. */
  readonly watch: (checkoutId: string) => readonly Delivery[];
  readonly close: () => Promise<void>;
}

/** Listens on loopback. @throws WrongOption if the port cannot be taken */
export async function openReceiver({ port }: WebhookOptions, onProgress?: (line: string) => void): Promise<Receiver> {
  let watched: string | undefined;
  const kept: Delivery[] = [];
  const server = createServer((incoming, response) => {
    readDelivery(incoming).then(
      (delivery) => {
        const isKept = watched !== undefined && member(member(delivery.fact, "data"), "orderId") === watched;
        if (isKept && kept.length < MOST_KEPT) kept.push(delivery);
        response.writeHead(204).end();
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    const refuse = ({ code }: NodeJS.ErrnoException) =>
      reject(new WrongOption(`--webhook-port: ${code}; give another port`));
    server.once("error", refuse).listen(port, "127.0.0.1", resolve);
  });
  onProgress?.(`webhooks: listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return {
    watch: (checkoutId) => {
      watched = checkoutId;
      return kept;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readDelivery(incoming: IncomingMessage): Promise<Delivery> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_MAX_BYTES) throw new Error("too long");
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  return { headers: incoming.headers, body, fact: parse(body) };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** Whether a delivery is signed by Standard Webhooks, over the body as it came. @param secret `whsec_` and base64. */
export function isSigned({ headers, body }: Pick<Delivery, "headers" | "body">, secret: string): boolean {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => headerOf(headers, name));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  return /^\d+$/.test(timestamp ?? "") && signatures?.split(" ").includes(`v1,${signature}`) === true;
}

export function headerOf(headers: ReceivedHeaders, name: string): string | undefined {
  return asText(headers[`webhook-${name}`]);
}

/** Buys on the connection `reversed`, unless something may have been bought that was not announced, and waits for both facts. */
export async function receiveReversal(
  all: readonly Spent[],
  [rehearsal]: readonly Rehearsal[],
  receiver: Receiver,
  { onProgress }: ConformanceOptions,
): Promise<Omit<WebhookFacts, "secret">> {
  const stop = (stopped: string) => ({ deliveries: [], stopped });
  const spent = all.find(({ facts }) => facts.version === rehearsal?.caller.version);
  if (rehearsal === undefined || spent === undefined) return stop("no top-up has succeeded");
  const { caller, plan } = rehearsal;
  const reason = reasonNotTo(all, spent);
  if (reason !== undefined || typeof plan === "string") return stop(reason ?? (plan as string));
  const listing = await caller.call("get-subscription-package", REVERSED);
  const checkoutId = readCheckoutId(listing);
  if (checkoutId === undefined || findOffer(plan, listing, caller.version) === undefined)
    return stop(NO_LONGER_OFFERED);
  onProgress?.("webhooks: waiting for a top-up and its reversal");
  const deliveries = receiver.watch(checkoutId);
  const { bouquetId, amt } = plan;
  const topUp = await caller.call("subscription-package-topup", { ...REVERSED, checkoutId, bouquetId, amt });
  if (!isSuccess(topUp)) return stop("the top-up to be reversed did not succeed");
  const isWhole = () => new Set(deliveries.map(({ fact }) => member(fact, "type"))).size > 1;
  for (let waitedMs = 0; waitedMs < WITHIN_MS && !isWhole(); waitedMs += LOOKED_EVERY_MS)
    await caller.wait(LOOKED_EVERY_MS);
  return { deliveries, topUp };
}
