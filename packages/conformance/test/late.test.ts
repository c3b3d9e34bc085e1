import { describe, expect, test } from "vitest";
import { check, failedIn, type Settings } from "./support/conformance.ts";
import type { FakeOptions, Request } from "./support/fake-provider.ts";
import { LISTING, TOP_UP } from "./support/mutant.ts";

/* A listing that shows what has happened only a moment later: after the kit has waited, at the end of everything. */

const PLANS: readonly (readonly [string, Settings])[] = [
  ["without the profile", { topUp: true }],
  ["with the profile", { topUp: true, profile: "topupd" }],
];

/** A service in which time goes by while the kit waits. @param isOf the requests that are extended for once more. */
function lateService(isOf: (request: Request) => boolean) {
  const sent = new Set<unknown>();
  let [shown, due] = [0, 0];
  const fake: FakeOptions = {
    isTopupd: true,
    rewrite: ({ json }, request) => {
      const { operation, fields } = request;
      if (operation === TOP_UP && json.success === true) {
        if (sent.has(fields["checkoutId"]) && isOf(request)) due = 1;
        sent.add(fields["checkoutId"]);
      }
      if (operation !== LISTING || json.success !== true) return;
      for (const each of json.body.internet?.subscriptions ?? []) {
        each.enddate = each.enddate.replace(/^\d{4}/, (year: string) => String(Number(year) + shown));
      }
    },
  };
  const waits: number[] = [];
  const wait = async (ms: number) => {
    waits.push(ms);
    shown = due;
  };
  return { fake, wait, waits };
}

describe.each(PLANS)("a second extension that shows late, %s,", (_, settings) => {
  test("fails, and nothing is bought in the other version", async () => {
    const { fake, wait } = lateService(() => true);
    const { report, provider } = await check(fake, { ...settings, wait });
    expect(failedIn(report)).toEqual(["checkout-extends-once"]);
    expect(provider.charged()).toBe(1);
    expect(report.notes.map(({ text }) => text)).toEqual([expect.stringContaining("showed it late")]);
  });

  test("fails also where it is the last thing that happens", async () => {
    const { fake, wait } = lateService(({ version }) => version === "v1.0.0");
    const { report, provider } = await check(fake, { ...settings, wait, versions: ["v1.0.0"] });
    expect(failedIn(report)).toEqual(["checkout-extends-once"]);
    expect(provider.charged()).toBe(1);
    expect(provider.requests.at(-1)?.operation).toBe(LISTING);
  });
});

test("a service that shows nothing more is looked at once more for each version, after a wait, and holds", async () => {
  const { fake, wait, waits } = lateService(() => false);
  const { report, provider } = await check(fake, { topUp: true, wait });
  expect([failedIn(report), report.ok, provider.charged()]).toEqual([[], true, 2]);
  expect(waits).toEqual([2000, 2000]);
  const operations = provider.requests.map(({ operation }) => operation);
  expect(operations.lastIndexOf(LISTING)).toBe(operations.length - 1);
});

test("a top-up that shows late itself is nobody's mistake, once it is told of", async () => {
  let [shown, isWaited]: [unknown, boolean] = [undefined, false];
  const { report, provider } = await check(
    {
      rewrite: ({ json }, { operation }) => {
        const packages = operation === LISTING ? json.body.internet : undefined;
        if (packages === undefined) return;
        shown ??= structuredClone(packages.subscriptions);
        if (!isWaited) packages.subscriptions = shown;
      },
    },
    {
      topUp: true,
      versions: ["v1.0.1"],
      wait: async () => {
        isWaited = true;
      },
    },
  );
  expect([failedIn(report), report.ok, provider.charged()]).toEqual([[], true, 1]);
});

test("no look is taken and nothing waited for where nothing was bought", async () => {
  const { fake, wait, waits } = lateService(() => true);
  await check(fake, { wait });
  await check(fake, { wait, topUp: true, purchase: { bouquetId: "none" } });
  expect(waits).toEqual([]);
});
