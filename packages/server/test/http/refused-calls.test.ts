import { expect, test } from "vitest";
import { CallNotes, MOST_GATHERED } from "../../src/partner/gathering.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import type { RefusedCall } from "../../src/store/store.ts";
import { partnersOf } from "../support/partners.ts";
import { prepareTopUp, startTestService } from "../support/service.ts";

test("refused calls of a partner are noted, with the customer that they named, and no other call is", async () => {
  const noted: RefusedCall[] = [];
  const service = await startTestService({ refusedCalls: { note: (call) => noted.push(call) } });
  const call = (operation: Parameters<typeof service.call>[0], body: object, token?: string) =>
    service.call(operation, body, token === undefined ? {} : { token });
  await call("get-customer-information", { code: "1000001" });
  await call("get-customer-information", { code: "nobody" });
  await call("get-subscription-package", { cuid: "1000001", service: "tv", reqId: "none" }, service.liveToken);
  await call("get-subscription-package", { cuid: "x".repeat(65), code: "\u0000", service: "tv", reqId: "1" });
  await call("get-customer-information", { code: ["1"] });
  await call("get-customer-information", { code: 9841 });
  await call("txn-status", {}, "unknown");
  await service.inject({ method: "POST", url: "/nowhere", headers: { authorization: `Bearer ${service.trialToken}` } });
  const partner = await partnersOf(service.store).setStatus("wallet", "suspended", {
    author: "tester",
    authority: undefined,
    at: service.now,
  });
  await expect
    .poll(async () => (await call("get-subscription-package", { cuid: "1000001" })).json.body.reason)
    .toBe("partner_suspended");
  const [first] = noted;
  expect(first).toEqual({
    ...{ at: service.now, partnerId: partner?.id, environment: "trial", operation: "get-customer-information" },
    ...{ reason: "customer_not_found", code: "nobody", requestId: expect.stringMatching(/^[0-9a-f]{18}$/) },
  });
  const seen = noted.map(({ environment, reason, code }) => [environment, reason, code]);
  expect(seen.slice(0, 5)).toEqual([
    ["trial", "customer_not_found", "nobody"],
    ["production", "customer_not_found", "1000001"],
    ["trial", "invalid_field", undefined],
    ["trial", "invalid_field", undefined],
    ["trial", "customer_not_found", "9841"],
  ]);
  // The body of a request that was not admitted is not read.
  expect(seen.at(-1)).toEqual(["trial", "partner_suspended", undefined]);
});

test("a top-up that a limit refused is noted with the limit", async () => {
  const noted: RefusedCall[] = [];
  const service = await startTestService({ refusedCalls: { note: (call) => noted.push(call) } });
  await service.store.engine.change((tx) => tx.updateTable("partner").set({ limits: '{"topUpAmount":1}' }).execute());
  const purchase = await prepareTopUp(service, { cuid: "1000004", service: "internet", reqId: "trial4" });
  expect((await service.call("subscription-package-topup", purchase)).status).toBe(403);
  expect(noted).toMatchObject([{ reason: "limit_reached", detail: "top_up_amount", code: "1000004" }]);
});

/** Attempt notes with a store that the test can make fail, and a sleep that the test ends. */
function scene() {
  const written: (readonly RefusedCall[])[] = [];
  const failures: unknown[] = [];
  const asleep: { ms: number; wake: () => void }[] = [];
  const state = { fails: false };
  const record = async (refusedCalls: readonly RefusedCall[]) => {
    if (state.fails) throw new StoreUnavailable("away");
    written.push(refusedCalls);
  };
  const notes = new CallNotes({ record, onFailure: (error) => failures.push((error as Error).message) });
  notes.keepWriting(
    (ms, signal) =>
      new Promise((resolve) => {
        asleep.push({ ms, wake: resolve });
        signal.addEventListener("abort", () => resolve());
      }),
  );
  const pass = async () => {
    const rounds = asleep.length;
    asleep.at(-1)?.wake();
    await expect.poll(() => asleep.length).toBe(rounds + 1);
  };
  return { notes, written, failures, asleep, state, pass };
}

const ATTEMPT: RefusedCall = {
  ...{ at: 1, partnerId: 1, environment: "trial", operation: "txn-status", reason: "not_topped_up" },
  ...{ code: undefined, requestId: "a" },
};

test("they are written together each second, and the rest when the process stops", async () => {
  const { notes, written, asleep, pass } = scene();
  notes.note(ATTEMPT);
  notes.note({ ...ATTEMPT, at: 2 });
  await pass();
  expect(written.map((some) => some.map(({ at }) => at))).toEqual([[1, 2]]);
  await pass();
  notes.note({ ...ATTEMPT, at: 3 });
  await notes.close();
  expect(written.map((some) => some.map(({ at }) => at))).toEqual([[1, 2], [3]]);
  expect(new Set(asleep.map(({ ms }) => ms))).toEqual(new Set([1_000]));
});

test("attempts that the store refuses, and those beyond the limit of memory, are dropped", async () => {
  const { notes, written, failures, state, pass } = scene();
  state.fails = true;
  notes.note(ATTEMPT);
  await pass();
  state.fails = false;
  for (let at = 0; at <= MOST_GATHERED; at += 1) notes.note({ ...ATTEMPT, at });
  await notes.close();
  expect(failures).toEqual(["away"]);
  expect(written.map((some) => [some.length, some[0]?.at])).toEqual([[MOST_GATHERED, 0]]);
});
