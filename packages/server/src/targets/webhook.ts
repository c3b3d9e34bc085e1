import { createHmac } from "node:crypto";
import * as http from "node:http";
import * as https from "node:https";
import {
  DeliveryFailed,
  type Poster,
  retryAfter,
  SENDING_LIMIT_MS,
  type TargetConfig,
  type WebhookSecret,
} from "../domain/target.ts";
import type { Instant } from "../domain/wall-time.ts";
import { AnswerFailed, requestOnce } from "../system/http-client.ts";
import type { AddressGuard } from "./address-guard.ts";
import { WebhookAnswer } from "./webhook-answer.ts";

/** Webhooks by the Standard Webhooks specification (standardwebhooks.com). */

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;
const MOST_CONNECTIONS = 32;
/** An idle connection is closed before most receivers close it. */
const IDLE_MS = 4_000;
/** Characters of an answer that staff see. */
const MOST_SHOWN = 4_096;
/** Time limit for one address of several. The default of 250 ms is too short for another continent. */
const CONNECTING_MS = 2000;

/** Reasons by error code. Other errors are reported by their code. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed",
  ENOTFOUND: "the host has no address",
  HPE_HEADER_OVERFLOW: "the head of the answer is longer than 16 KiB",
};

export interface WebhookPorts {
  /** Whether the answer's body is read: staff see it, and it may promise a confirmation. Otherwise only the status counts. */
  readonly readsAnswer: boolean;
  readonly clock: () => Instant;
  readonly guard: AddressGuard;
  readonly limitMs?: number;
}

/** @param random returns this many bytes that cannot be guessed. */
export function newWebhookSecret(random: (bytes: number) => Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(random(SECRET_BYTES)).toString("base64");
}

/** @returns why a webhook may not have this URL, as a phrase after "the URL"; undefined if it may. */
export async function refuseUrl(text: string, guard: AddressGuard): Promise<string | undefined> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") return "must begin with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must hold no user name and no password";
  return guard.problemOf(url.hostname);
}

/** Posts messages to a URL that {@link refuseUrl} has accepted. */
export function createPoster(
  { url }: Extract<TargetConfig, { kind: "webhook" }>,
  secrets: readonly WebhookSecret[],
  { readsAnswer, clock, guard, limitMs = SENDING_LIMIT_MS }: WebhookPorts,
): Poster {
  const parsed = new URL(url);
  const { Agent } = parsed.protocol === "https:" ? https : http;
  const agent = new Agent({
    ...{ keepAlive: true, maxSockets: MOST_CONNECTIONS, timeout: IDLE_MS, lookup: guard.lookup },
    ...{ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: CONNECTING_MS },
  });

  return {
    async post(message, signal, exchange) {
      const body = JSON.stringify(message);
      exchange.request = body;
      guard.refuseLiteral(parsed.hostname);
      const limit = limitOf(limitMs, signal);
      const response = await Promise.race([request(message.id, body, limit.signal), limit.ended]).catch((error) => {
        limit.clear();
        throw error;
      });
      const { statusCode: status = 0, headers } = response;
      const isAccepted = status >= 200 && status <= 299;
      exchange.status = status;
      response.on("close", limit.clear);
      const answer = new WebhookAnswer(response);
      if (readsAnswer) {
        try {
          if (isAccepted) exchange.isPending = await answer.isPending(limit.signal);
          await answer.waitForText();
        } finally {
          exchange.answer = answer.text.slice(0, MOST_SHOWN);
        }
      }
      if (isAccepted) return;
      const isBusy = status === 429 || status === 503;
      const retryAt = isBusy ? retryAfter(headers["retry-after"], clock()) : status === 410 ? Infinity : undefined;
      throw new DeliveryFailed(`status ${status}`, { isAnswer: true, retryAt });
    },
    close: async () => agent.destroy(),
  };

  async function request(id: string, body: string, signal: AbortSignal): Promise<http.IncomingMessage> {
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
      return await requestOnce(parsed, { method: "POST", agent, headers, signal }, body);
    } catch (error) {
      throw error instanceof DeliveryFailed ? error : new DeliveryFailed(reasonOf(error));
    }
  }
}

function sign(secret: string, message: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  return createHmac("sha256", key).update(message).digest("base64");
}

/** Never uses the error's message: it may quote the URL. */
function reasonOf(error: unknown): string {
  if (error instanceof AnswerFailed) return error.message;
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
