import { expect, test } from "vitest";
import { type Alert, alertMail } from "../../src/domain/alert.ts";
import { eventMessage } from "../../src/domain/event.ts";
import { createZone } from "../../src/domain/wall-time.ts";

const ZONE = createZone("Asia/Kathmandu");
const AT = Date.parse("2026-11-23T08:00:00Z");
const LOW: Alert = {
  ...{ kind: "account.low", partnerId: 7, environment: "production", at: AT, limit: undefined },
  low: { balance: -5_050n, below: 100_000n },
};
const LIMIT: Alert = { ...LOW, kind: "limit.reached", limit: "paid_ahead", low: undefined };

test("a mail about an alert says whose balance is low, and since when, in one line each", () => {
  expect(alertMail(LOW, "Blue\nWallet", ZONE, 2)).toEqual({
    subject: "topupd: Blue\ufffdWallet: balance is low",
    text: "Partner: Blue\ufffdWallet\nTime: 2026-11-23 13:45:00 (Asia/Kathmandu)\n\nThe balance is -50.50, below 1000.00.\n",
  });
});

test("a mail about an alert of the trial environment says so", () => {
  const { subject, text } = alertMail({ ...LIMIT, environment: "trial" }, "wallet", ZONE, 2);
  expect(subject).toBe("topupd: wallet (trial): limit reached");
  expect(text).toContain("\n\nA top-up would have paid a connection too far ahead, and was refused.\n");
});

test("an event of an alert has the partner, and its amounts or its limit, and no connection", () => {
  const told = (alert: Alert) => eventMessage({ seq: 3, kind: alert.kind, at: AT, partner: "wallet", alert }, ZONE, 2);
  expect(told(LOW)).toEqual({
    ...{ id: `evt_${AT}_3`, type: "account.low", timestamp: "2026-11-23T08:00:00.000Z" },
    data: { environment: "production", partner: "wallet", balance: "-50.50", below: "1000.00" },
  });
  expect(told(LIMIT).data).toEqual({ environment: "production", partner: "wallet", limit: "paid_ahead" });
});
