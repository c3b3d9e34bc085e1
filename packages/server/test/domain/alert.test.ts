import { expect, test } from "vitest";
import type { Alert } from "../../src/domain/alert.ts";
import { eventMessage } from "../../src/domain/event.ts";
import { type MailWords, type Problem, problemMail } from "../../src/domain/problem.ts";
import { createZone } from "../../src/domain/wall-time.ts";

const ZONE = createZone("Asia/Kathmandu");
const AT = Date.parse("2026-11-23T08:00:00Z");
const LOW: Alert = {
  ...{ kind: "account.low", partnerId: 7, environment: "production", at: AT, limit: undefined },
  low: { balance: -5_050n, below: 100_000n },
};
const LIMIT: Alert = { ...LOW, kind: "limit.reached", limit: "paid_ahead", low: undefined };

const WORDS: MailWords = { currency: undefined, numberGrouping: "western", consoleUrl: undefined };
const TIMES = { beganAt: AT, endedAt: undefined, zone: ZONE, exponent: 2, words: WORDS } as const;
const MAILED: Problem = { kind: "account_low", environment: "production", subject: "Blue\nWallet", amount: -5_050n };
const mail = (problem: Partial<Problem>, times = {}) => problemMail({ ...MAILED, ...problem }, { ...TIMES, ...times });

test("a mail says whose balance is low, and since when, in one line each", () => {
  const event = { kind: "account.low", partnerId: 7, below: 100_000n } as const;
  expect(mail({ kind: "account_low", event })).toEqual({
    subject: "topupd: Blue\ufffdWallet: balance is low",
    text: "Partner: Blue\ufffdWallet\nTime: 2026-11-23 13:45:00 (Asia/Kathmandu)\n\nThe balance is -50.50, below 1,000.00. The credit limit: none.\n",
  });
});

test("a mail about the end of a problem has the figures of its day, and otherwise none", () => {
  const ended = { endedAt: AT + 60_000 };
  expect(mail({ kind: "account_low" }, ended)).toEqual({
    subject: "topupd: ended: Blue\ufffdWallet: balance is low",
    text: "Partner: Blue\ufffdWallet\nTime: 2026-11-23 13:45:00 (Asia/Kathmandu)\nEnded: 2026-11-23 13:46:00 (Asia/Kathmandu)\n",
  });
  const refused = { kind: "balance_refused", count: 439, amount: 43_390_050n, endsAt: AT + 60_000 } as const;
  expect(mail(refused, ended).text).toContain("as the balance was too low: 439, of 433,900.50.\n");
});

test("a mail names the target, the trial environment, or nothing", () => {
  expect(mail({ kind: "limit_reached", environment: "trial", subject: "wallet", limit: "paid_ahead" })).toMatchObject({
    subject: "topupd: wallet (trial): limit reached",
    text: expect.stringContaining("\n\nTop-ups would have paid a connection too far ahead, and were refused. "),
  });
  const behind: Problem = { kind: "target_behind", subject: "crm", count: 3_029, at: AT };
  expect(problemMail(behind, TIMES).text).toMatch(
    /^Target: crm\n.*\n\nEvents that it lacks: 3029, the oldest since 2026-11-23 13:45/,
  );
  expect(problemMail({ ...behind, kind: "feed_behind" }, TIMES).text).toMatch(
    /^Target: crm\n.*\n\nEvents that its reader has not fetched: 3029, the oldest since /,
  );
  const { subject, text } = problemMail({ kind: "no_backup" }, TIMES);
  expect([subject, text]).toEqual([
    "topupd: no backup",
    expect.stringMatching(/^Time: .*\n\nThe last backup: none\.\n$/),
  ]);
});

test("a mail has the currency, groups of digits, the credit limit, and a link to its page", () => {
  const words: MailWords = { currency: "NPR", numberGrouping: "indian", consoleUrl: "https://desk.provider.example" };
  const event = { kind: "account.low", partnerId: 7, below: 100_000_000n } as const;
  const low = { ...MAILED, amount: -123_456_750n, creditLimit: 50_000_000n, event };
  expect(mail(low, { words }).text).toContain(
    "The balance is NPR -12,34,567.50, below NPR 10,00,000.00. The credit limit: NPR 5,00,000.00.\n\nhttps://desk.provider.example/partners/Blue%0AWallet\n",
  );
  expect(problemMail({ kind: "target_paused", subject: "crm", count: 2 }, { ...TIMES, words }).text).toMatch(
    /\n\nhttps:\/\/desk.provider.example\/targets\/crm\n$/,
  );
});

test("an event of an alert has the partner, and its amounts or its limit, and no connection", () => {
  const told = (alert: Alert) => eventMessage({ seq: 3, kind: alert.kind, at: AT, partner: "wallet", alert }, ZONE, 2);
  expect(told(LOW)).toEqual({
    ...{ id: `evt_${AT}_3`, type: "account.low", timestamp: "2026-11-23T08:00:00.000Z" },
    data: { environment: "production", partner: "wallet", balance: "-50.50", below: "1000.00" },
  });
  expect(told(LIMIT).data).toEqual({ environment: "production", partner: "wallet", limit: "paid_ahead" });
});
