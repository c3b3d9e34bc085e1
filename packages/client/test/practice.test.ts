import { expect, onTestFinished, test } from "vitest";
import { FAULTS, PRACTICE_CUID, type TrialCall } from "../../server/src/domain/practice.ts";
import { practiceReport } from "../../server/src/domain/practice-report.ts";
import { PREFIX, START, startTestService } from "../../server/test/support/service.ts";
import type { Client } from "../src/index.ts";
import { DRIVERS } from "./support/drivers.ts";

/*
 * Each client against a running service, with the practice customer: every fault ends in the right outcome, and the
 * practice report has no complaint.
 */

const [SENT, FOUND] = [
  { outcome: "topped_up", replayed: false },
  { outcome: "topped_up", replayed: true },
];

const OUTCOMES: Readonly<Record<string, object>> = {
  "lost-before": SENT,
  "lost-after": FOUND,
  "half-answer": FOUND,
  slow: FOUND,
  "busy-before": SENT,
  "busy-after": FOUND,
  "proxy-error": FOUND,
  limited: SENT,
  "ask-fails": FOUND,
  expired: { outcome: "refused", failure: { reason: "checkout_expired" } },
  undecided: { outcome: "never_topped_up", failure: { reason: "never_topped_up" } },
  withdrawn: { outcome: "refused", failure: { reason: "bouquet_unavailable" } },
  short: { outcome: "refused", failure: { reason: "insufficient_balance" } },
  "day-limit": { outcome: "refused", failure: { reason: "limit_reached", limit: "day_amount" } },
  reversed: SENT,
};

for (const [language, isHere, start] of DRIVERS) {
  test.skipIf(!isHere)(`the client in ${language} ends every fault of the practice customer well`, async () => {
    // The waits of the clients take no time, so each call takes some of the service's.
    const calls: TrialCall[] = [];
    const trialCalls = {
      note: (each: TrialCall) => {
        calls.push(each);
        service.now += 15_000;
      },
    };
    const service = await startTestService({ lateMs: 500, trialCalls });
    const base = `${await service.app.listen({ host: "127.0.0.1", port: 0 })}${PREFIX}/v1.0.1`;
    const driver = start();
    onTestFinished(driver.stop);
    const call = (action: keyof Client, values: object) => {
      const options = { base, token: service.trialToken, timeoutMs: 300 };
      return driver.call({ do: action, with: values, options, nowMs: START });
    };

    const outcomes: Record<string, object> = {};
    for (const { name } of FAULTS) {
      const connection = { cuid: PRACTICE_CUID, service: "internet", reqId: name };
      const { outcome: listed } = await call("listPackages", connection);
      const { checkoutId, bouquets } = listed["value"] as {
        checkoutId: string;
        bouquets: { code: string; price: string }[];
      };
      const [bouquet] = bouquets;
      const purchase = { ...connection, checkoutId, bouquetId: bouquet?.code, amt: bouquet?.price };
      outcomes[name] = (await call("topUp", purchase)).outcome;
    }
    expect(outcomes).toMatchObject(OUTCOMES);
    expect(Object.keys(OUTCOMES)).toEqual(FAULTS.map(({ name }) => name));
    const report = () =>
      practiceReport({ calls, topUps: [], list: undefined, now: service.now }).map(({ fault, verdict, broken }) => {
        return [fault, verdict, ...broken];
      });
    // Only a list shows that a partner has noticed a reversal. The last call is noted after its answer.
    const expected = FAULTS.map(({ name }) => [name, name === "reversed" ? "open" : "passed"]);
    await expect.poll(report).toEqual(expected);
  });
}
