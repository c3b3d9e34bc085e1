import { Webhook } from "standardwebhooks";
import type { Settings } from "./conformance.ts";
import type { FakeOptions } from "./fake-provider.ts";
import type { Fields } from "./fake-rules.ts";
import { TOP_UP } from "./mutant.ts";

/* topupd's webhook for a partner, as far as it tells of the practice connection `reversed`. */

export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const REVERSED_AFTER_MS = 10_000;

interface Message {
  /** Time from the top-up until it is sent. */
  dueMs: number;
  /** The id of the header. */
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests change facts into all kinds of things
  fact: any;
  /** Signs it. */
  secret: string;
  /** Added to the body after it is signed. */
  added?: string;
}

/** How the sender differs from one that is right. @param messages the top-up, then its reversal. */
export type SenderChange = (messages: [Message, Message]) => readonly Message[];

/** @returns what the fake does, and the settings of a run in which it sends. */
export function withWebhook(change: SenderChange = (messages) => messages): { fake: FakeOptions; settings: Settings } {
  const waiting: Message[] = [];
  let url = "";
  const fake: FakeOptions = {
    ...{ isTopupd: true, practice: {} },
    rewrite: ({ json }, { operation, fields }) => {
      if (operation !== TOP_UP || fields["reqId"] !== "reversed" || json.success !== true) return;
      waiting.push(...change(messagesOf(json.body.result)));
    },
  };
  const wait = async (ms: number) => {
    for (const message of waiting) message.dueMs -= ms;
    for (const message of waiting.filter(({ dueMs }) => dueMs <= 0)) {
      waiting.splice(waiting.indexOf(message), 1);
      await send(url, message);
    }
  };
  const onProgress = (line: string) => {
    url ||= /^webhooks: listening on (\S+)$/.exec(line)?.[1] ?? "";
  };
  const webhook = { port: 0, secret: SECRET };
  return { fake, settings: { profile: "topupd", topUp: true, versions: ["v1.0.1"], webhook, wait, onProgress } };
}

function messagesOf(result: Fields): [Message, Message] {
  const data = { ...result, commission: 0, reversedAt: null, udf1: null, udf2: null };
  const message = (kind: string, dueMs: number, more: object) => {
    const id = `${kind}_${String(result["txnId"])}`;
    const timestamp = new Date(Date.UTC(2026, 10, 20) + dueMs).toISOString();
    return { dueMs, id, fact: { id, type: `topup.${kind}`, timestamp, data: { ...data, ...more } }, secret: SECRET };
  };
  const reversed = { status: "reversed", reversedAt: "2026-11-20 00:00:10" };
  return [message("recorded", 0, {}), message("reversed", REVERSED_AFTER_MS, reversed)];
}

async function send(url: string, { id, fact, secret, added = "" }: Message): Promise<void> {
  const [at, body] = [new Date(), JSON.stringify(fact)];
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, at, body),
  };
  await fetch(url, { method: "POST", headers, body: body + added });
}
