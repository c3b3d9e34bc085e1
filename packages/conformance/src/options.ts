import { SERVICES, type Service, VERSIONS, type Version } from "./facts.ts";

export const DEFAULT_TIMEOUT_MS = 10_000;

export interface ConformanceOptions {
  /** The provider's `BASE`. Its version, the last part, is replaced by each of `versions`. */
  readonly base: string;
  /** The access token, sent only to the service. */
  readonly token: string;
  /** The code of a customer to look up and, with `topUp`, to top up. */
  readonly code: string;
  /** The versions to check; both by default. */
  readonly versions?: readonly Version[];
  /** `topupd` also checks topupd's decisions on points that the interface leaves open. */
  readonly profile?: "topupd";
  /** Makes one top-up per version. Without it, no top-up is sent. */
  readonly topUp?: boolean;
  /** Waits five minutes and sends a top-up with an expired checkoutId. Needs `topUp`, because it may buy. */
  readonly expiry?: boolean;
  /** The purchase; by default the cheapest bouquet of the first active connection. */
  readonly purchase?: Purchase;
  /** Receives topupd's webhook for a partner. Needs `topUp` and the profile, because it buys on a practice connection. */
  readonly webhook?: WebhookOptions;
  /** Milliseconds for one request, 1000 to 600 000, and four times that for a top-up. 10 000 by default. */
  readonly timeoutMs?: number;
  /** Called with a line at each step, and with the cost before anything is spent. */
  readonly onProgress?: (line: string) => void;
  /** Waits this many milliseconds; a timer by default. */
  readonly wait?: (durationMs: number) => Promise<void>;
}

export interface WebhookOptions {
  /** The kit listens on 127.0.0.1; 0 takes any free port. */
  readonly port: number;
  /** The webhook's secret, `whsec_` and base64. */
  readonly secret: string;
}

export interface Purchase {
  readonly service?: Service;
  readonly reqId?: string;
  readonly bouquetId?: string;
}

/** Unusable options. The message says what to give instead. */
export class WrongOption extends Error {}

/** @throws WrongOption */
export function checkOptions(options: ConformanceOptions): void {
  const { token, code, versions = VERSIONS, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  readBase(options.base);
  if (!/^[\x21-\x7e]+$/.test(token)) throw new WrongOption("the access token must be one word of visible characters");
  if (code.trim() === "") throw new WrongOption("the code must name a customer, such as a customer id");
  if (versions.length === 0 || versions.some((version) => !VERSIONS.includes(version))) {
    throw new WrongOption(`the versions must be among ${VERSIONS.join(",")}`);
  }
  if (new Set(versions).size < versions.length) throw new WrongOption("each version can be given once");
  if (!(timeoutMs >= 1000 && timeoutMs <= 600_000)) throw new WrongOption("the time-out must be from 1 to 600 seconds");
  if (options.profile !== undefined && options.profile !== "topupd") {
    throw new WrongOption("the profile can only be topupd");
  }
  if (options.expiry === true && options.topUp !== true) {
    throw new WrongOption("--expiry needs --top-up: a service that takes the expired checkoutId sells");
  }
  checkWebhook(options);
  checkPurchase(options);
}

function checkPurchase({ purchase, topUp }: ConformanceOptions): void {
  if (purchase === undefined || Object.values(purchase).every((value) => value === undefined)) return;
  if (topUp !== true) throw new WrongOption("what to buy can be chosen with --top-up only");
  if (purchase.service !== undefined && !SERVICES.includes(purchase.service)) {
    throw new WrongOption("the service must be tv, internet or iptv");
  }
}

function checkWebhook({ webhook, topUp, profile }: ConformanceOptions): void {
  if (webhook === undefined) return;
  if (topUp !== true || profile !== "topupd")
    throw new WrongOption("--webhook-port needs --top-up and --profile topupd: it buys on a practice connection");
  const { port, secret } = webhook;
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535))
    throw new WrongOption("--webhook-port takes a number up to 65535");
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret))
    throw new WrongOption("the webhook's secret must be whsec_ and base64, as topupd has shown it");
}

/** @throws WrongOption */
export function readBase(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new WrongOption("the base must look like https://topup.provider.example/staging/api/third-party/v1.0.1");
  }
  // Credentials would appear in reports, and a query would get lost.
  if (url.username !== "" || url.password !== "" || /[?#]/.test(text)) {
    throw new WrongOption("the base must have no user, password, query or fragment");
  }
  url.pathname = url.pathname.replace(/\/+$/, "");
  if (!VERSIONS.some((version) => url.pathname.endsWith(`/${version}`))) {
    throw new WrongOption(`the base must end with ${VERSIONS.join(" or ")}`);
  }
  return url;
}
