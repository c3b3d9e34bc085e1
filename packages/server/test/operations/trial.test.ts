import { describe, expect, test } from "vitest";
import { resetTrial } from "../../src/operations/trial.ts";
import { customersOf } from "../support/customers-of.ts";
import { prepareTopUp, START, startTestService, type TestService } from "../support/service.ts";

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

/** Each connection as partners see it: service, number or name, and status. */
async function lookUp(service: TestService, code: string) {
  const { status, json } = await service.call("get-customer-information", { code });
  if (status !== 200) return json.code;
  const { connections, ...customer } = json.body.customer;
  const items = ["tv", "internet", "iptv"].flatMap((name) =>
    connections[name].map(
      (item: Record<string, string>) => `${name} ${item["stb"] ?? item["username"]} ${item["status"]}`,
    ),
  );
  return [`${customer.cuid} ${customer.status}`, ...items];
}

const FIRST_STATE = [
  ["1000001 active", "tv 000100000000001 active", "tv 000100000000002 inactive", "internet trial1 active"],
  ["1000002 active", "internet trial2 inactive"],
  ["1000003 active", "tv 000100000000003 active"],
  ["1000004 active", "internet trial4 active", "iptv trial4-iptv active"],
  ["1000005 inactive", "internet trial5 inactive"],
];

const lookUpAll = (service: TestService) =>
  Promise.all([1, 2, 3, 4, 5].map((number) => lookUp(service, `100000${number}`)));

describe("the trial environment", () => {
  test("has five customers, each with a mobile number of its own", async () => {
    const service = await startTestService();
    expect(await lookUpAll(service)).toEqual(FIRST_STATE);
    const byMobile = await Promise.all([1, 2, 3, 4, 5].map((number) => lookUp(service, `980000000${number}`)));
    expect(byMobile).toEqual(FIRST_STATE);
  });

  test("shows what runs and what has lapsed alike at any time of its start", async () => {
    for (const now of [
      START,
      Date.UTC(2027, 2, 1, 0, 0, 1),
      Date.UTC(2028, 1, 29, 23, 59, 59),
      Date.UTC(2030, 11, 31),
    ]) {
      expect(await lookUpAll(await startTestService({ now }))).toEqual(FIRST_STATE);
    }
  });

  test.each(["Asia/Kathmandu", "America/New_York", "Pacific/Apia"])("is the same in %s", async (timeZone) => {
    expect(await lookUpAll(await startTestService({ timeZone }))).toEqual(FIRST_STATE);
  });

  test.each([0, 1, 3])("sells at whole prices in a currency of %i decimals", async (currencyExponent) => {
    const service = await startTestService({ currencyExponent });
    const { json } = await service.call("get-subscription-package", FIBER);
    expect(json.body.internet.bouquets).toMatchObject([
      { code: "TRIAL-NET-1M", price: 1130 },
      { code: "TRIAL-NET-3M", price: 3220 },
      { code: "TRIAL-NET-12M", price: 11520 },
      { code: "TRIAL-IP-1M", price: 500 },
    ]);
  });

  test("does not exist for a production token", async () => {
    const service = await startTestService();
    const { json } = await service.call("get-customer-information", { code: "1000001" }, { token: service.liveToken });
    expect(json.code).toBe("400aa101");
  });

  test("has a customer with a base and an add-on, and one with IPTV", async () => {
    const service = await startTestService();
    const codesOf = async (cuid: string, name: string, reqId: string) => {
      const { json } = await service.call("get-subscription-package", { cuid, service: name, reqId });
      return json.body[name].subscriptions.map(({ code }: { code: string }) => code);
    };
    expect(await codesOf("1000003", "tv", "000100000000003")).toEqual(["TRIAL-TV-1M", "TRIAL-KIDS-1M"]);
    expect(await codesOf("1000004", "iptv", "trial4-iptv")).toEqual(["TRIAL-ITV-1M"]);
  });
});

describe("resetting the trial environment", () => {
  test("takes back what was topped up, and leaves earlier top-ups on record", async () => {
    const service = await startTestService();
    const listed = async () => (await service.call("get-subscription-package", FIBER)).json.body.internet;
    const before = await listed();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-12M");
    const bought = await service.call("subscription-package-topup", purchase);
    expect(await listed()).not.toEqual(before);
    await resetTrial(service.ports);
    expect(await listed()).toEqual(before);
    const replayed = await service.call("subscription-package-topup", purchase);
    expect(replayed.headers["idempotent-replayed"]).toBe("true");
    expect(replayed.json).toEqual(bought.json);
    expect(await listed()).toEqual(before);
  });

  test("revives a lapsed customer's lapse after a top-up", async () => {
    const service = await startTestService();
    const lapsed = { cuid: "1000002", service: "internet", reqId: "trial2" };
    await service.call("subscription-package-topup", await prepareTopUp(service, lapsed));
    expect(await lookUp(service, "1000002")).toEqual(["1000002 active", "internet trial2 active"]);
    await resetTrial(service.ports);
    expect(await lookUpAll(service)).toEqual(FIRST_STATE);
  });

  test("makes a new catalogue revision only where the catalogue is another", async () => {
    const service = await startTestService();
    const first = await service.store.currentCatalogue("trial");
    await resetTrial(service.ports);
    expect(await service.store.currentCatalogue("trial")).toEqual(first);
    await service.importCatalogue([{ service: "tv", code: "X", name: "X (MONTHLY)", price: 1 }], "trial");
    await resetTrial(service.ports);
    const last = await service.store.currentCatalogue("trial");
    expect(last?.bouquets).toEqual(first?.bouquets);
    expect(last?.revision).toBe((first?.revision ?? 0) + 2);
  });

  test("honours a checkout that was issued before it", async () => {
    const service = await startTestService();
    const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
    await resetTrial(service.ports);
    expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
  });

  test("touches no production customer", async () => {
    const service = await startTestService();
    await service.importCustomers([
      { cuid: "1000001", first_name: "Real", last_name: "One", status: "active", connections: {} },
    ]);
    await resetTrial(service.ports);
    expect(await customersOf(service.store, "production", "1000001")).toMatchObject([{ firstName: "Real" }]);
  });

  test("leaves a database that is in order, however often it is done", async () => {
    const service = await startTestService();
    for (let round = 0; round < 5; round += 1) {
      await service.call("subscription-package-topup", await prepareTopUp(service, FIBER));
      service.now += 24 * 60 * 60 * 1000;
      await resetTrial(service.ports);
    }
    for await (const event of service.store.check()) expect(event.kind).toBe("checked");
  });
});
