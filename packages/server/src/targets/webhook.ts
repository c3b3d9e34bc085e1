import { createHmac } from "node:crypto";
import { type Dispatcher, Pool } from "undici";
import { type RecordedEvent, toldEvent } from "../domain/event.ts";
import type { CurrencyExponent } from "../domain/money.ts";
import type { TargetConfig, WebhookSecret } from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import type { Zone } from "../domain/zone.ts";
import { DeliveryFailed, SENDING_LIMIT_MS, type Sender } from "../workers/sender.ts";
import { isPrivate, literalAddress, lookupFor, PRIVATE_ADDRESS, type Resolve, resolveHost } from "./addresses.ts";

/** Webhooks by the Standard Webhooks specification (standardwebhooks.com). */

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;
const MOST_CONNECTIONS = 32;
/** Of an answer's body, which nobody reads: a longer one costs its connection. */
const MOST_ANSWER_BYTES = 16_384;
/** For one address of several: the default of 250 ms gives up on receivers on another continent. */
const CONNECTING_MS = 2000;

/** What a failure of the network is called; others are told by their code. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed",
  UND_ERR_SOCKET: "connection closed",
  ENOTFOUND: "the host has no address",
};

export interface WebhookPorts {
  readonly zone: Zone;
  readonly currencyExponent: CurrencyExponent;
  readonly clock: () => Instant;
  readonly resolve?: Resolve;
  readonly limitMs?: number;
}

/** @param random gives so many bytes that nobody can guess. */
export function newWebhookSecret(random: (bytes: number) => Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(random(SECRET_BYTES)).toString("base64");
}

/** Posts events to a URL, which {@link refuseUrl} has let pass. */
export function createWebhookSender(
  { url, allowPrivate }: Extract<TargetConfig, { kind: "webhook" }>,
  secrets: readonly WebhookSecret[],
  { zone, currencyExponent, clock, resolve = resolveHost, limitMs = SENDING_LIMIT_MS }: WebhookPorts,
): Sender {
  const parsed = new URL(url);
  const path = parsed.pathname + parsed.search;
  const literal = literalAddress(parsed);
  const isRefused = !allowPrivate && literal !== undefined && isPrivate(literal);
  const pool = new Pool(parsed.origin, {
    connections: MOST_CONNECTIONS,
    connect: {
      ...{ lookup: lookupFor(allowPrivate, resolve), timeout: limitMs },
      ...{ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: CONNECTING_MS },
    },
  });

  return {
    async send(event, signal) {
      // A socket looks up names alone.
      if (isRefused) throw new DeliveryFailed(PRIVATE_ADDRESS);
      const limit = limitOf(limitMs, signal);
      try {
        const { statusCode, body } = await Promise.race([post(event, limit.signal), limit.ended]);
        // The receiver has said what there is to say, whatever becomes of the rest.
        void body.dump({ limit: MOST_ANSWER_BYTES, signal: AbortSignal.timeout(limitMs) }).catch(() => {});
        if (statusCode < 200 || statusCode > 299) throw new DeliveryFailed(`status ${statusCode}`, { isAnswer: true });
      } finally {
        limit.clear();
      }
    },
    close: () => pool.destroy(),
  };

  async function post(event: RecordedEvent, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const told = toldEvent(event, zone, currencyExponent);
    const body = JSON.stringify(told);
    const now = clock();
    const timestamp = String(Math.floor(now / 1000));
    const signatures = secrets
      .filter(({ until }) => until === undefined || now < until)
      .map(({ secret }) => `v1,${sign(secret, `${told.id}.${timestamp}.${body}`)}`);
    const headers = {
      ...{ "webhook-id": told.id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") },
      ...{ "content-type": "application/json", "user-agent": "topupd" },
    };
    try {
      return await pool.request({ method: "POST", path, headers, body, signal });
    } catch (error) {
      throw error instanceof DeliveryFailed ? error : new DeliveryFailed(reasonOf(error));
    }
  }
}

function sign(secret: string, message: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  return createHmac("sha256", key).update(message).digest("base64");
}

/** The error itself may name what is in the URL. */
function reasonOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  if (typeof code !== "string") return "no answer";
  return REASONS[code] ?? `no answer (${code})`;
}

/** Aborts at a signal or after a time. `ended` is for a request that waits for its connection, and heeds no signal. */
function limitOf(ms: number, signal: AbortSignal) {
  const limit = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    limit.signal.addEventListener("abort", () => reject(limit.signal.reason));
  });
  const fail = (reason: string) => limit.abort(new DeliveryFailed(reason));
  const interrupt = () => fail("interrupted");
  const timer = setTimeout(fail, ms, `no answer within ${ms / 1000} seconds`);
  const clear = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", interrupt);
  };
  signal.addEventListener("abort", interrupt);
  if (signal.aborted) interrupt();
  return { signal: limit.signal, ended, clear };
}
