import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Clock, createClient, type TopUpOptions } from "../src/index.ts";
import { scene } from "./support/scripted.ts";
import { virtualClock } from "./support/virtual-clock.ts";
import { BASE, failure, otherFailure, PURCHASE, recorded, reply, TOKEN } from "./support/wire.ts";

const TOP_UP = "subscription-package-topup";
const QUERY = "txn-status";

describe("a resumed top-up", () => {
  const resume = async (script: Parameters<typeof scene>[0], options: TopUpOptions = {}) => {
    const { client, clock, sent } = scene(script);
    return { outcome: await clock.run(client.topUp(PURCHASE, { resumed: true, ...options })), sent };
  };

  test("that was recorded is found without sending anything", async () => {
    expect(await resume([recorded()])).toMatchObject({
      outcome: { outcome: "topped_up", replayed: true },
      sent: [QUERY],
    });
  });

  test("that was not recorded is sent", async () => {
    expect(await resume([failure("400ab107"), recorded()])).toMatchObject({
      outcome: { outcome: "topped_up", replayed: false },
      sent: [QUERY, TOP_UP],
    });
  });

  test("is never called refused for a refusal that only the repeat has met", async () => {
    const told = await resume([failure("400ab107"), failure("400ab102"), failure("400ab107"), failure("400ab108")]);
    expect(told).toMatchObject({ outcome: { outcome: "never_topped_up" }, sent: [QUERY, TOP_UP, QUERY, QUERY, QUERY] });
  });

  test("at a deployment that does not say what became of it stays unknown, and is not sent", async () => {
    const { outcome, sent } = await resume([otherFailure(404)]);
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "ask_provider" } });
    expect(new Set(sent)).toEqual(new Set([QUERY]));
  });

  test("with a checkoutId that is not known is a matter for the provider", async () => {
    expect(await resume([failure("400ab101")])).toMatchObject({
      outcome: { outcome: "undecided", next: { do: "ask_provider" } },
    });
  });
});

describe("the caller's signal", () => {
  test("that had aborted before anything was sent throws its reason", async () => {
    const { client, sent } = scene([recorded()]);
    const signal = AbortSignal.abort(new Error("no longer wanted"));
    await expect(client.topUp(PURCHASE, { signal })).rejects.toThrow("no longer wanted");
    await expect(client.topUp(PURCHASE, { signal, resumed: true })).rejects.toThrow("no longer wanted");
    expect(sent).toEqual([]);
  });

  test("that aborts while the answer is out leaves it unknown", async () => {
    const controller = new AbortController();
    const abort = () => {
      controller.abort();
      return "hang" as const;
    };
    const { client, clock, sent } = scene([abort, recorded()]);
    const outcome = await clock.run(client.topUp(PURCHASE, { signal: controller.signal }));
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "query_again" }, failure: { why: "aborted" } });
    expect(sent).toEqual([TOP_UP]);
  });

  test("that aborts while it waits leaves it unknown", async () => {
    const controller = new AbortController();
    const { client, clock, sent } = scene(["reset", failure("400ac006", {}, { "retry-after": "60" }), recorded()]);
    const outcome = client.topUp(PURCHASE, { signal: controller.signal });
    await clock.run(clock.sleep(30_000));
    controller.abort();
    expect(await clock.run(outcome)).toMatchObject({ outcome: "undecided", next: { do: "query_again" } });
    expect(sent).toEqual([TOP_UP, QUERY]);
  });

  test.each([
    [
      "of too many requests, which says that nothing was read",
      failure("400ac006", {}, { "retry-after": "60" }),
      "refused",
    ],
    ["that txn-status has still to bear out", failure("400ab106"), "undecided"],
  ])("that aborts while it waits after a first refusal %s", async (_, answer, outcome) => {
    const controller = new AbortController();
    const { client, clock, sent } = scene([answer, recorded()]);
    const done = client.topUp(PURCHASE, { signal: controller.signal });
    await clock.run(clock.sleep(500));
    controller.abort();
    expect(await clock.run(done)).toMatchObject({ outcome });
    expect(sent).toEqual([TOP_UP]);
  });

  test("ends any other operation with a failure that says so", async () => {
    const { client } = scene([reply(200, {})]);
    const signal = AbortSignal.abort();
    expect(await client.lookUpCustomer("x", { signal })).toMatchObject({
      ok: false,
      failure: { kind: "no_answer", why: "aborted" },
    });
  });
});

describe("time", () => {
  test("is long enough by default for txn-status to say never", async () => {
    const { client, clock } = scene([
      "hang",
      () => (clock.now() >= startedAt + 361_000 ? failure("400ab108") : failure("400ae002")),
    ]);
    const startedAt = clock.now();
    expect(await clock.run(client.topUp(PURCHASE))).toMatchObject({ outcome: "never_topped_up" });
  });

  test("is up at the given moment, even while an answer is awaited", async () => {
    const { client, clock } = scene(["hang"]);
    const startedAt = clock.now();
    const outcome = await clock.run(client.topUp(PURCHASE, { giveUpAfterMs: 45_000 }));
    expect(outcome).toMatchObject({ outcome: "undecided", failure: { kind: "no_answer", why: "timeout" } });
    expect(clock.now() - startedAt).toBeLessThanOrEqual(45_000);
  });

  test("between questions grows, and is bounded", async () => {
    const { client, clock, times } = scene(["reset"]);
    await clock.run(client.topUp(PURCHASE));
    const waits = times.slice(1).map((time, index) => time - (times[index] as number));
    expect(waits.slice(0, 7)).toEqual([499, 999, 1_999, 3_999, 7_999, 15_999, 19_999]);
    expect(Math.max(...waits)).toBe(19_999);
  });

  test("for one answer can be set for the client and for a call", async () => {
    const { client, clock } = scene(["hang"], { timeoutMs: 2_000 });
    const startedAt = clock.now();
    expect(await clock.run(client.lookUpCustomer("x"))).toMatchObject({ failure: { why: "timeout" } });
    expect(clock.now() - startedAt).toBe(2_000);
    await clock.run(client.lookUpCustomer("x", { timeoutMs: 500 }));
    expect(clock.now() - startedAt).toBe(2_500);
  });

  const DAY_MS = 86_400_000;

  test.each([
    ["back", -DAY_MS],
    ["forward", DAY_MS],
  ])("to give up is the same where the system's clock is set %s meanwhile", async (_, byMs) => {
    const real = Date.now;
    const startedAt = performance.now();
    vi.spyOn(Date, "now").mockImplementation(() => real() + (performance.now() - startedAt > 100 ? byMs : 0));
    onTestFinished(() => void vi.restoreAllMocks());
    const fetch = () => Promise.reject(new TypeError("fetch failed"));
    const client = createClient({ base: BASE, token: TOKEN, fetch, random: () => 0 });
    const outcome = await client.topUp(PURCHASE, { giveUpAfterMs: 600 });
    expect(outcome).toMatchObject({ outcome: "undecided", next: { do: "query_again" } });
    // The third wait ends after 350 ms; the fourth, of 400 ms, would not end in time.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(340);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test("to give up goes by the monotonic clock that is handed in", async () => {
    const time = virtualClock();
    let setBackMs = 0;
    const clock: Clock = {
      now: () => time.now() - setBackMs,
      monotonic: () => time.now(),
      sleep: (ms, signal) => time.sleep(ms, signal),
    };
    const fetch = () => {
      setBackMs += DAY_MS;
      return Promise.reject(new TypeError("fetch failed"));
    };
    const client = createClient({ base: BASE, token: TOKEN, fetch, clock });
    const startedAt = time.now();
    expect(await time.run(client.topUp(PURCHASE))).toMatchObject({ outcome: "undecided" });
    expect(time.now() - startedAt).toBeLessThanOrEqual(480_000);
  });

  test("that fails does not break a top-up off in the middle", async () => {
    const sleep = () => {
      throw new Error("no timers here");
    };
    const { client } = scene(["reset"], { clock: { now: () => 0, sleep } });
    expect(await client.topUp(PURCHASE)).toMatchObject({ outcome: "undecided", next: { do: "query_again" } });
  });
});
