import { describe, expect, test } from "vitest";
import { callOperation, commandLine, type HttpAnswer } from "../support/command-line.ts";
import { fillDatabase, SITA_NET } from "../support/provider-files.ts";

const CHECKOUTS = 15;

describe("two services on one file", () => {
  test("take each other's checkouts, and record each of them once however often it is sent", async () => {
    const line = commandLine();
    const token = await fillDatabase(line);
    const urls = [(await line.start("serve")).url, (await line.start("serve")).url] as const;
    const call = (side: number, operation: string, body: object) =>
      callOperation(urls[side % 2] as string, operation, token, body);

    const quotes = await Promise.all(
      Array.from({ length: CHECKOUTS }, (_, index) => call(index, "get-subscription-package", SITA_NET)),
    );
    const purchases = quotes.map(({ json }) => ({
      ...SITA_NET,
      checkoutId: json.body.checkoutId,
      bouquetId: "NET-1M",
      amt: "1130",
    }));
    const races = await Promise.all(
      purchases.map((purchase) =>
        Promise.all([0, 1, 0, 1].map((side) => call(side, "subscription-package-topup", purchase))),
      ),
    );
    for (const answers of races) {
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(answers.map(({ json }) => JSON.stringify(json))).size).toBe(1);
      expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
    }
    expect(new Set(races.map(([answer]) => answer?.json.body.result.txnId)).size).toBe(CHECKOUTS);

    const ends = await Promise.all([0, 1].map((side) => call(side, "get-subscription-package", SITA_NET)));
    const subscriptions = ends.map(({ json }) => json.body.internet.subscriptions);
    expect(subscriptions[0]).toHaveLength(1);
    expect(subscriptions[1]).toEqual(subscriptions[0]);
    expect(monthsOf(subscriptions[0][0])).toBe(CHECKOUTS);
    expect((await line.run("check")).code).toBe(0);
  });
});

function isReplay({ headers }: HttpAnswer): boolean {
  return headers.get("idempotent-replayed") === "true";
}

function monthsOf({ startdate, enddate }: { readonly startdate: string; readonly enddate: string }): number {
  const months = (date: string) => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7));
  return months(enddate) - months(startdate);
}
