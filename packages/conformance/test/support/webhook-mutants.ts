import type { SenderChange } from "./fake-webhook.ts";

/** A sender with one thing wrong, and the check that must say so. */
export interface SenderMutant {
  readonly name: string;
  readonly caught: string;
  readonly change: SenderChange;
}

const LATE_MS = 61_000;

export const WEBHOOK_MUTANTS: readonly SenderMutant[] = [
  { name: "sends no reversal", caught: "webhook-arrives", change: ([recorded]) => [recorded] },
  { name: "sends nothing", caught: "webhook-arrives", change: () => [] },
  {
    name: "sends the reversal first",
    caught: "webhook-arrives",
    change: ([recorded, reversed]) => [reversed, { ...recorded, dueMs: reversed.dueMs + 1_000 }],
  },
  {
    name: "sends the reversal late",
    caught: "webhook-arrives",
    change: ([recorded, reversed]) => [recorded, { ...reversed, dueMs: LATE_MS }],
  },
  each("signs with another secret", "webhook-signed", (message) => {
    message.secret = "whsec_b3RoZXJzZWNyZXRvdGhlcnNlY3JldA==";
  }),
  each("changes a body after it has signed it", "webhook-signed", (message) => {
    message.added = "\n";
  }),
  each("names a fact by a number", "webhook-fact", (message) => {
    message.fact.id = message.id = "evt_1795413600000_7";
  }),
  each("names it in the header otherwise", "webhook-fact", (message) => {
    message.id = `${message.id}0`;
  }),
  each("adds a field", "webhook-fact", ({ fact }) => {
    fact.data.balance = 7;
  }),
  each("leaves a field out", "webhook-fact", ({ fact }) => {
    delete fact.data.commission;
  }),
  each("shows another amount", "webhook-fact", ({ fact }) => {
    fact.data.amt += 1;
  }),
  each("has no time", "webhook-fact", ({ fact }) => {
    fact.timestamp = "2026-11-20 00:00:00";
  }),
  {
    name: "shows the reversal before it happened",
    caught: "webhook-fact",
    change: ([recorded, reversed]) => {
      recorded.fact.data = reversed.fact.data;
      return [recorded, reversed];
    },
  },
  {
    name: "does not show the time of the reversal",
    caught: "webhook-fact",
    change: ([recorded, reversed]) => {
      reversed.fact.data.reversedAt = null;
      return [recorded, reversed];
    },
  },
];

function each(name: string, caught: string, change: (message: ReturnType<SenderChange>[number]) => void): SenderMutant {
  return {
    name,
    caught,
    change: (messages) => {
      for (const message of messages) change(message);
      return messages;
    },
  };
}
