import { describe, expect, test } from "vitest";
import { PREFIX, startTestService } from "../../server/test/support/service.ts";
import { runConformance } from "../src/index.ts";
import { check, failedIn, notedIn, type Settings, skippedIn } from "./support/conformance.ts";
import type { FakeOptions } from "./support/fake-provider.ts";
import { TOP_UP } from "./support/mutant.ts";

/* Top-ups that a service had better refuse: sent after everything else, with checkoutIds of their own. */

const PLAIN: Settings = { topUp: true };
const isWrong = (fields: Readonly<Record<string, unknown>>) => fields["amt"] === "1";

describe("top-ups that cost money if they are taken", () => {
  test("are three in each version, each with a checkoutId of its own, and buy nothing", async () => {
    const { report, provider } = await check({}, PLAIN);
    const sent = provider.requests.filter(({ operation }) => operation === TOP_UP).slice(-6);
    expect(new Set(sent.map(({ fields }) => fields["checkoutId"])).size).toBe(6);
    expect(sent.map(({ version }) => version)).toEqual([...Array(3).fill("v1.0.1"), ...Array(3).fill("v1.0.0")]);
    expect([report.ok, notedIn(report), report.notes, provider.charged()]).toEqual([true, [], [], 2]);
  });

  test.each<[string, FakeOptions, string]>([
    ["not answered", { hangsUp: ({ operation, fields }) => operation === TOP_UP && isWrong(fields) }, "not answered"],
    [
      "answered with HTTP 500",
      {
        rewrite: (answer, { operation, fields }) => {
          if (operation === TOP_UP && isWrong(fields)) answer.status = 500;
        },
      },
      "not refused",
    ],
    [
      "refused, and made all the same",
      {
        takesAnyAmount: true,
        rewrite: (answer, { operation, fields }) => {
          if (operation === TOP_UP && isWrong(fields)) answer.json = { success: false, code: "E", body: {} };
        },
      },
      "made all the same",
    ],
  ])("hold nothing where one is %s, and no other is sent", async (_, fake, note) => {
    const { report, provider } = await check(fake, PLAIN);
    const held = report.results.filter(({ id, outcome }) => id.startsWith("money-") && outcome !== "skipped");
    expect([held, failedIn(report), report.ok]).toEqual([[], [], true]);
    expect(report.notes.map(({ text }) => text)).toEqual([expect.stringContaining(note)]);
    expect(provider.requests.filter(({ operation }) => operation === TOP_UP).length).toBe(5);
  });
});

describe("an expired checkoutId", () => {
  test("is sent with expiry only, once for each version, after one wait of more than five minutes", async () => {
    for (const [expiry, longWaits] of [
      [false, []],
      [true, [305_000]],
    ] as const) {
      const waits: number[] = [];
      const wait = async (ms: number) => {
        waits.push(ms);
      };
      const { report, provider } = await check({}, { ...PLAIN, expiry, wait });
      expect(waits.filter((ms) => ms > 2000)).toEqual(longWaits);
      expect(skippedIn(report).includes("v1.0.1 checkout-expires")).toBe(!expiry);
      // The fake's time has stood still, so it takes the first of them.
      expect(provider.charged()).toBe(expiry ? 3 : 2);
    }
  });

  test.each([undefined, "topupd"] as const)("buys nothing at topupd, with the profile %s", async (profile) => {
    const service = await startTestService();
    const base = `${await service.app.listen({ host: "127.0.0.1", port: 0 })}${PREFIX}/v1.0.1`;
    const report = await runConformance({
      base,
      token: service.trialToken,
      code: "1000001",
      topUp: true,
      expiry: true,
      ...(profile === undefined ? {} : { profile }),
      wait: async (ms) => {
        service.now += ms;
      },
    });
    expect([failedIn(report), notedIn(report), report.ok, report.notes]).toEqual([[], [], true, []]);
    expect(report.results.find(({ id }) => id === "checkout-expires")?.outcome).toBe("holds");
  });
});
