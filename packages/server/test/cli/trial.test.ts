import { describe, expect, test } from "vitest";
import { FAULTS, PRACTICE_CUID } from "../../src/domain/practice.ts";
import { resetTrial, restoreTrial, TRIAL_CUIDS } from "../../src/faces/cli/demo/trial.ts";
import { listPackages, lookUpCustomer } from "../../src/partner/customers.ts";
import { trialCatalogue } from "../../src/partner/openapi/examples.ts";
import { topUp } from "../../src/partner/top-ups.ts";
import { findCustomer } from "../../src/store/customers.ts";
import { publish } from "../support/catalogue.ts";
import { ACTOR, customer, DAY_MS, openWorld, type World } from "../support/world.ts";

/** Each customer, and each connection as partners see it: service, number or name, and status. */
const FIRST_STATE = [
  ["1000001 active", "tv 000100000000001 active", "tv 000100000000002 inactive", "internet trial1 active"],
  ["1000002 active", "internet trial2 inactive"],
  ["1000003 active", "tv 000100000000003 active"],
  ["1000004 active", "internet trial4 active", "iptv trial4-iptv active"],
  ["1000005 inactive", "internet trial5 inactive"],
];

async function openTrial(options: { readonly now?: number; readonly timeZone?: string } = {}) {
  const world = await openWorld(options.timeZone === undefined ? {} : { timeZone: options.timeZone });
  if (options.now !== undefined) world.now = options.now;
  await resetTrial(world.ports, ACTOR);
  return { ...world, world, caller: { ...world.caller, environment: "trial" as const } };
}

type Trial = Awaited<ReturnType<typeof openTrial>>;

async function lookUp({ ports, caller }: Pick<World, "ports" | "caller">, code: string) {
  const answer = await lookUpCustomer(ports, caller, { code });
  if (!answer.ok) return answer.refusal;
  const { customer: found, connections } = answer.value;
  return [
    `${found.cuid} ${found.status}`,
    ...connections.map(({ service, reqId, status }) => `${service} ${reqId} ${status}`),
  ];
}

const lookUpAll = (trial: Trial, codes: readonly string[] = TRIAL_CUIDS) =>
  Promise.all(codes.map((code) => lookUp(trial, code)));

async function subscriptionsOf(
  { ports, caller }: Trial,
  cuid: string,
  service: "tv" | "internet" | "iptv",
  reqId: string,
) {
  const answer = await listPackages(ports, caller, { cuid, service, reqId }, 0);
  if (!answer.ok) throw new Error(answer.refusal);
  return { ...answer.value, codes: answer.value.subscriptions.map(({ bouquet }) => bouquet.code) };
}

describe("the trial environment", () => {
  test("has six customers, each with a mobile number of its own, and none for production", async () => {
    const trial = await openTrial();
    expect(await lookUpAll(trial)).toEqual(FIRST_STATE);
    expect(
      await lookUpAll(
        trial,
        [1, 2, 3, 4, 5].map((number) => `980000000${number}`),
      ),
    ).toEqual(FIRST_STATE);
    const practice = FAULTS.map(({ name }) => `internet ${name} active`);
    expect(await lookUpAll(trial, [PRACTICE_CUID, "9800000010"])).toEqual(
      Array(2).fill(["1000010 active", ...practice]),
    );
    expect(await lookUp(trial.world, "1000001")).toBe("customer_not_found");
    expect((await subscriptionsOf(trial, "1000003", "tv", "000100000000003")).codes).toEqual([
      ...["TRIAL-TV-1M", "TRIAL-KIDS-1M"],
    ]);
    expect((await subscriptionsOf(trial, "1000004", "iptv", "trial4-iptv")).codes).toEqual(["TRIAL-ITV-1M"]);
  });

  test.each([
    ["2027-03-01T00:00:01Z", "UTC"],
    ["2028-02-29T23:59:59Z", "Asia/Kathmandu"],
    ["2027-03-28T03:30:00Z", "Europe/Berlin"],
  ])("shows alike what runs and what has lapsed at %s in %s", async (now, timeZone) => {
    expect(await lookUpAll(await openTrial({ now: Date.parse(now), timeZone }))).toEqual(FIRST_STATE);
  });

  test.each([
    [0, 1130n],
    [3, 1_130_000n],
  ])("sells at whole prices in a currency of %i decimals", (exponent, price) => {
    const bouquet = trialCatalogue(exponent).find(({ code }) => code === "TRIAL-NET-1M");
    expect(bouquet).toMatchObject({ price, plan: "Trial Fiber 100 Mbps" });
  });
});

describe("resetting the trial environment", () => {
  test("takes back what was topped up, and leaves earlier top-ups on record", async () => {
    const trial = await openTrial();
    const { ports, caller } = trial;
    for (const [cuid, reqId] of [
      ["1000001", "trial1"],
      ["1000002", "trial2"],
    ] as const) {
      const { checkoutId } = await subscriptionsOf(trial, cuid, "internet", reqId);
      const request = {
        cuid,
        service: "internet",
        reqId,
        checkoutId,
        bouquetCode: "TRIAL-NET-12M",
        amount: 1_152_000n,
      } as const;
      const bought = await topUp(ports, caller, request);
      expect(bought).toMatchObject({ ok: true, value: { replayed: false } });
      expect((await subscriptionsOf(trial, cuid, "internet", reqId)).codes).toEqual(["TRIAL-NET-12M"]);
      await resetTrial(ports, ACTOR);
      expect(await lookUpAll(trial)).toEqual(FIRST_STATE);
      expect(await topUp(ports, caller, request)).toMatchObject({ ok: true, value: { replayed: true } });
    }
    expect((await subscriptionsOf(trial, "1000001", "internet", "trial1")).subscriptions).toMatchObject([
      { bouquet: { code: "TRIAL-NET-1M" }, start: "2026-11-10 09:00:00", end: "2026-12-10 09:00:00" },
    ]);
  });

  test("makes a new catalogue revision only where the catalogue is another", async () => {
    const trial = await openTrial();
    const revision = async () => (await trial.store.currentCatalogue("trial", trial.now))?.revision;
    const first = await revision();
    await resetTrial(trial.ports, ACTOR);
    expect(await revision()).toBe(first);
    await publish(trial.store, "trial", trialCatalogue(2).slice(1), {
      author: ACTOR.name,
      authority: undefined,
      at: trial.now,
    });
    await resetTrial(trial.ports, ACTOR);
    expect((await trial.store.currentCatalogue("trial", trial.now))?.bouquets).toEqual(trialCatalogue(2));
  });

  test("happens again on each day, and at once if a connection is paid far ahead", async () => {
    const trial = await openTrial();
    const { ports, caller } = trial;
    const connection = { cuid: "1000001", service: "internet", reqId: "trial1" } as const;
    const find = () => subscriptionsOf(trial, connection.cuid, connection.service, connection.reqId);
    const buy = async () => {
      const { checkoutId } = await find();
      const request = { ...connection, checkoutId, bouquetCode: "TRIAL-NET-12M", amount: 1_152_000n };
      expect(await topUp(ports, caller, request)).toMatchObject({ ok: true });
    };
    const codes = async () => {
      await restoreTrial(ports);
      return (await find()).codes;
    };
    await buy();
    expect(await codes()).toEqual(["TRIAL-NET-12M"]);
    trial.world.now += DAY_MS;
    expect(await codes()).toEqual(["TRIAL-NET-1M"]);
    const far = { code: "TRIAL-NET-12M", startdate: "2026-11-20 09:00:00", enddate: "5000-11-20 09:00:00" };
    const internet = [{ username: "trial1", status: "active", subscriptions: [far] }];
    const paid = customer("1000001", { mobile: "9800000001", connections: { internet } });
    await trial.world.importCustomers([paid], { environment: "trial" });
    expect(await codes()).toEqual(["TRIAL-NET-1M"]);
  });

  test("happens again only if it happened before, and unless another trial catalogue was published", async () => {
    const world = await openWorld();
    await restoreTrial(world.ports);
    expect(await world.store.currentCatalogue("trial", world.now)).toBe(undefined);
    const trial = await openTrial();
    const others = trialCatalogue(2).slice(1);
    await publish(trial.store, "trial", others, { author: ACTOR.name, authority: undefined, at: trial.world.now });
    trial.world.now += DAY_MS;
    await restoreTrial(trial.ports);
    expect((await trial.store.currentCatalogue("trial", trial.now))?.bouquets).toEqual(others);
  });

  test("touches no production customer, and leaves a database that is in order", async () => {
    const trial = await openTrial();
    await trial.world.importCustomers([customer("1000001", { first_name: "Real" })]);
    for (let day = 0; day < 3; day += 1) {
      trial.world.now += DAY_MS;
      await resetTrial(trial.ports, ACTOR);
    }
    expect(await findCustomer(trial.store.engine.db, "production", "1000001")).toMatchObject({ firstName: "Real" });
    for await (const event of trial.store.check()) expect(event.kind).toBe("checked");
  });
});
