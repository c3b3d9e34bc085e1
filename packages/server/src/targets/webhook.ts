import { createHmac } from "node:crypto";
import { promises as dns, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { type Dispatcher, Pool } from "undici";
import { AddressList, canonicalAddress } from "../domain/address-list.ts";
import { eventId, eventMessage } from "../domain/event.ts";
import type { CurrencyExponent } from "../domain/money.ts";
import {
  DeliveryFailed,
  SENDING_LIMIT_MS,
  type Sender,
  type TargetConfig,
  type WebhookSecret,
} from "../domain/target.ts";
import type { Instant, Zone } from "../domain/wall-time.ts";

/*
 * A staff member who adds a target must not reach topupd's private network through it. So the IP address is checked after
 * the name is resolved, and the connection uses exactly this address.
 */

/** Addresses outside the public internet, by the registries of special-purpose addresses (RFC 6890 and its updates). */
const PRIVATE = new AddressList([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
  // Protocol assignments, documentation, relays, benchmarks.
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  // Multicast, reserved, broadcast.
  "224.0.0.0/3",
  // All of IPv6 except the public 2000::/3. Contains ::1, 64:ff9b::/96, fc00::/7, fe80::/10 and ff00::/8.
  "::/3",
  "4000::/2",
  "8000::/1",
  // Exceptions in 2000::/3: protocol assignments with Teredo, documentation, 6to4, documentation.
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
]);

/** The addresses of a host. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

const resolveHost: Resolve = (host) => dns.lookup(host, { all: true });

/** @returns why a webhook may not have this URL, as a phrase after "the URL"; undefined if it may. */
export async function refuseUrl(
  text: string,
  allowPrivate: boolean,
  resolve: Resolve = resolveHost,
): Promise<string | undefined> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return "must begin with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must hold no user name and no password";
  if (allowPrivate) return undefined;
  const literal = literalAddress(url);
  const addresses = literal === undefined ? await resolve(url.hostname).catch(() => []) : [{ address: literal }];
  if (addresses.length === 0) return "has a host whose address cannot be found";
  return addresses.some(({ address }) => isPrivate(address))
    ? "leads to a private address: if that is meant, allow it with --allow-private (webhook.allowPrivate in the API)"
    : undefined;
}

/** The IP address in a URL without a host name, in any notation. */
function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? undefined : host;
}

/** True for private addresses, their IPv6 notations, and texts that are no address. */
export function isPrivate(address: string): boolean {
  return canonicalAddress(address) === undefined || PRIVATE.has(address);
}

/** A look-up for a socket, which connects to exactly these addresses. */
function lookupFor(allowPrivate: boolean, resolve: Resolve): LookupFunction {
  const find = async (host: string): Promise<LookupAddress[] | Error> => {
    const addresses = await resolve(host);
    const isRefused = !allowPrivate && addresses.some(({ address }) => isPrivate(address));
    return isRefused ? new DeliveryFailed(PRIVATE_ADDRESS) : [...addresses];
  };
  const answer = async (host: string, callback: Parameters<LookupFunction>[2]) => {
    const found = await find(host).catch((error: Error) => error);
    if (found instanceof Error) callback(found, []);
    else callback(null, found);
  };
  return (host, _options, callback) => {
    void answer(host, callback);
  };
}

const PRIVATE_ADDRESS = "the address is private";

/** Webhooks by the Standard Webhooks specification (standardwebhooks.com). */

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;
const MOST_CONNECTIONS = 32;
/** A longer answer closes the connection. */
const MOST_ANSWER_BYTES = 16_384;
/** Bytes of an answer that staff see. */
const SHOWN_BYTES = 4_096;
/** A slower answer does not delay the next event. */
const ANSWER_MS = 1_000;
/** Time limit for one address of several. The default of 250 ms is too short for another continent. */
const CONNECTING_MS = 2000;

/** Reasons by error code. Other errors are reported by their code. */
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

/** @param random returns this many bytes that cannot be guessed. */
export function newWebhookSecret(random: (bytes: number) => Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(random(SECRET_BYTES)).toString("base64");
}

/** Posts events to a URL that {@link refuseUrl} has accepted. */
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
      lookup: lookupFor(allowPrivate, resolve),
      timeout: limitMs,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: CONNECTING_MS,
    },
  });

  return {
    async send(event, signal, exchange = {}) {
      // A socket looks up only names, so a literal address is checked here.
      if (isRefused) throw new DeliveryFailed(PRIVATE_ADDRESS);
      const limit = limitOf(limitMs, signal);
      const message = JSON.stringify(eventMessage(event, zone, currencyExponent));
      exchange.request = message;
      const response = await Promise.race([post(eventId(event), message, limit.signal), limit.ended]).catch((error) => {
        limit.clear();
        throw error;
      });
      const { statusCode: status, body } = response;
      exchange.status = status;
      exchange.answer = await readBeginning(body, limit.clear);
      // The status is the whole answer: errors in the body do not matter.
      if (status < 200 || status > 299) throw new DeliveryFailed(`status ${status}`, { isAnswer: true });
    },
    close: () => pool.destroy(),
  };

  async function post(id: string, body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const now = clock();
    const timestamp = String(Math.floor(now / 1000));
    const signatures = secrets
      .filter(({ until }) => until === undefined || now < until)
      .map(({ secret }) => `v1,${sign(secret, `${id}.${timestamp}.${body}`)}`);
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": signatures.join(" "),
      "content-type": "application/json",
      "user-agent": "topupd",
    };
    try {
      return await pool.request({ method: "POST", path, headers, body, signal });
    } catch (error) {
      throw error instanceof DeliveryFailed ? error : new DeliveryFailed(reasonOf(error));
    }
  }
}

/** @param onClosed called when the whole answer is there, or is given up. */
function readBeginning(body: Dispatcher.ResponseData["body"], onClosed: () => void): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const show = () => resolve(Buffer.concat(chunks).toString("utf8", 0, SHOWN_BYTES));
    const timer = setTimeout(show, ANSWER_MS);
    body
      .on("data", (chunk: Buffer) => {
        if (bytes < SHOWN_BYTES) chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MOST_ANSWER_BYTES) body.destroy();
      })
      .on("error", () => {})
      .on("close", () => {
        clearTimeout(timer);
        onClosed();
        show();
      });
  });
}

function sign(secret: string, message: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  return createHmac("sha256", key).update(message).digest("base64");
}

/** Never uses the error's message: it may quote the URL. */
function reasonOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  if (typeof code !== "string") return "no answer";
  return REASONS[code] ?? `no answer (${code})`;
}

/** Aborts at a signal or after a time. `ended` is needed because a request waiting for its connection ignores the signal. */
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
