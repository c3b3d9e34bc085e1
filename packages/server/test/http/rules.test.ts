import { describe, expect, test } from "vitest";
import {
  type Answer,
  type OperationName,
  prepareTopUp,
  startTestService,
  type TestService,
} from "../support/service.ts";

const CATALOGUE = [
  { service: "tv", code: "BASE-1M", name: "Base (MONTHLY)", price: 350 },
  { service: "tv", code: "BASE-12M", name: "Base (YEARLY)", price: 3570.5 },
  { service: "tv", code: "KIDS", name: "Kids [AddOn] (MONTHLY)", price: 99.5 },
  { service: "tv", code: "HD", name: "Premium HD (MONTHLY)", price: 750, segments: ["hd"] },
  { service: "internet", code: "NET", name: "Fiber (MONTHLY)", price: 1130, segments: ["ftth"] },
];

const person = (cuid: string, tv: object[], more: object = {}) => ({
  cuid,
  first_name: "First",
  last_name: "Last",
  mobile: `98${cuid.padStart(8, "0")}`,
  status: "active",
  connections: { tv },
  ...more,
});

const running = { code: "BASE-1M", startdate: "2026-11-10 00:00:00", enddate: "2026-12-10 00:00:00" };
const lapsed = { code: "BASE-1M", startdate: "2026-09-10 00:00:00", enddate: "2026-10-10 00:00:00" };

async function startWith(customers: readonly object[], options = {}): Promise<TestService> {
  const service = await startTestService(options);
  await service.importCatalogue(CATALOGUE);
  await service.importCustomers(customers);
  const call = service.call.bind(service);
  // Everything here is about real customers.
  return Object.assign(service, {
    call: (operation: OperationName, body: object, more = {}) =>
      call(operation, body, { token: service.liveToken, ...more }),
  });
}

const outcome = ({ status, json }: Answer) => [status, json.body.reason ?? json.code];
const tv = (cuid: string, reqId: string) => ({ cuid, service: "tv", reqId });

describe("looking a customer up", () => {
  test("works by mobile number, customer id, set-top box and username, trimmed", async () => {
    const service = await startTestService();
    for (const code of ["9800000004", "1000004", "trial4", "trial4-iptv", "  trial4\t"]) {
      const { json } = await service.call("get-customer-information", { code });
      expect(json.body.customer?.cuid, code).toBe("1000004");
    }
    const { json } = await service.call("get-customer-information", { code: "000100000000003" });
    expect(json.body.customer.cuid).toBe("1000003");
    expect((await service.call("get-customer-information", { code: "100000000003" })).status).toBe(404);
  });
});

describe("a connection", () => {
  test("shows as the provider and its subscriptions say", async () => {
    const service = await startWith([
      person("1", [
        { stb: "runs", status: "active", subscriptions: [running] },
        { stb: "lapsed", status: "active", subscriptions: [lapsed] },
        { stb: "imported-inactive", status: "inactive", subscriptions: [running] },
        { stb: "blocked", status: "blocked", subscriptions: [running] },
        { stb: "new", status: "active" },
      ]),
    ]);
    const { json } = await service.call("get-customer-information", { code: "1" });
    expect(json.body.customer.connections.tv).toEqual([
      { stb: "runs", status: "active" },
      { stb: "lapsed", status: "inactive" },
      { stb: "imported-inactive", status: "active" },
      { stb: "blocked", status: "inactive" },
      { stb: "new", status: "active" },
    ]);
  });

  test("that has lapsed or was imported inactive is active after a top-up", async () => {
    const service = await startWith([
      person("1", [
        { stb: "lapsed", status: "active", subscriptions: [lapsed] },
        { stb: "off", status: "inactive", subscriptions: [lapsed] },
      ]),
    ]);
    for (const reqId of ["lapsed", "off"]) {
      const purchase = await prepareTopUp(service, tv("1", reqId), "BASE-1M");
      expect((await service.call("subscription-package-topup", purchase)).status).toBe(200);
    }
    const { json } = await service.call("get-customer-information", { code: "1" });
    const { tv: boxes } = json.body.customer.connections;
    expect(boxes.map(({ status }: { status: string }) => status)).toEqual(["active", "active"]);
  });

  test.each([
    ["that is blocked", "connection_blocked", { status: "blocked" }, {}],
    ["of an inactive customer", "customer_inactive", {}, { status: "inactive" }],
  ])("%s can be looked up, but neither listed nor topped up", async (_, reason, ofBox, ofCustomer) => {
    const box = { stb: "box", status: "active" };
    const service = await startWith([person("1", [box])]);
    const purchase = await prepareTopUp(service, tv("1", "box"));
    await service.importCustomers([person("1", [{ ...box, ...ofBox }], ofCustomer)]);
    expect((await service.call("get-customer-information", { code: "box" })).status).toBe(200);
    expect(outcome(await service.call("get-subscription-package", tv("1", "box")))).toEqual([422, reason]);
    expect(outcome(await service.call("subscription-package-topup", purchase))).toEqual([422, reason]);
  });

  test("that is not there is told from a customer that is not there", async () => {
    const service = await startWith([person("1", [{ stb: "007", status: "active" }])]);
    const list = async (body: object) => outcome(await service.call("get-subscription-package", body));
    expect(await list(tv("2", "007"))).toEqual([404, "customer_not_found"]);
    expect(await list(tv("1", "7"))).toEqual([404, "connection_not_found"]);
    expect(await list({ cuid: "1", service: "internet", reqId: "007" })).toEqual([404, "connection_not_found"]);
  });
});

describe("the packages", () => {
  const offered = async (service: TestService, reqId: string) => {
    const { json } = await service.call("get-subscription-package", tv("1", reqId));
    return json.body.tv.bouquets.map(({ code }: { code: string }) => code);
  };

  test("are those of the service and segment, add-ons only beside a running base subscription", async () => {
    const service = await startWith([
      person("1", [
        { stb: "sd", status: "active", segment: "sd", subscriptions: [running] },
        { stb: "hd", status: "active", segment: "hd", subscriptions: [lapsed] },
        { stb: "none", status: "active" },
      ]),
    ]);
    expect(await offered(service, "sd")).toEqual(["BASE-1M", "BASE-12M", "KIDS"]);
    expect(await offered(service, "hd")).toEqual(["BASE-1M", "BASE-12M", "HD"]);
    expect(await offered(service, "none")).toEqual(["BASE-1M", "BASE-12M"]);
  });

  test("name prices as JSON numbers", async () => {
    const service = await startWith([person("1", [{ stb: "box", status: "active" }])]);
    const { json } = await service.call("get-subscription-package", tv("1", "box"));
    expect(json.body.tv.bouquets[1]).toEqual({ code: "BASE-12M", name: "Base (YEARLY)", price: 3570.5 });
  });

  test.each([
    [0, Date.UTC(2026, 11, 10)],
    [3, Date.UTC(2026, 11, 13)],
  ])("list subscriptions until %i days after the moment at which they end", async (lapsedDays, last) => {
    const box = { stb: "box", status: "active", subscriptions: [running] };
    const service = await startWith([person("1", [box])], { lapsedDays });
    const count = async () =>
      (await service.call("get-subscription-package", tv("1", "box"))).json.body.tv.subscriptions.length;
    service.now = last - 1;
    expect(await count()).toBe(1);
    service.now = last;
    expect(await count()).toBe(0);
  });
});

describe("a top-up", () => {
  test("of what is not offered is refused", async () => {
    const service = await startWith([person("1", [{ stb: "box", status: "active", segment: "sd" }])]);
    const purchase = await prepareTopUp(service, tv("1", "box"));
    for (const bouquetId of ["NET", "HD", "KIDS", "no-such", "base-1m"]) {
      const answer = await service.call("subscription-package-topup", { ...purchase, bouquetId });
      expect(outcome(answer), bouquetId).toEqual([422, "bouquet_unavailable"]);
    }
  });

  test("honours the price that was quoted, although a new revision is out", async () => {
    const service = await startWith([person("1", [{ stb: "box", status: "active" }])]);
    const quoted = await prepareTopUp(service, tv("1", "box"), "BASE-1M");
    await service.importCatalogue([{ ...CATALOGUE[0], price: 400 }]);
    const { status, json } = await service.call("subscription-package-topup", quoted);
    expect([status, json.body.result.amt]).toEqual([200, 350]);
    const fresh = await prepareTopUp(service, tv("1", "box"), "BASE-1M");
    expect(fresh["amt"]).toBe("400");
    const former = await service.call("subscription-package-topup", { ...fresh, amt: "350" });
    expect(outcome(former)).toEqual([422, "amount_mismatch"]);
  });

  test.each(["3570.5", "3570.50", 3570.5])("is paid alike with %j", async (amt) => {
    const service = await startWith([person("1", [{ stb: "box", status: "active" }])]);
    const purchase = await prepareTopUp(service, tv("1", "box"), "BASE-12M");
    const { json } = await service.call("subscription-package-topup", { ...purchase, amt });
    expect(json.body.result.amt).toBe(3570.5);
  });

  test("keeps udf1 and udf2 with the transaction, and shows them to nobody", async () => {
    const service = await startWith([person("1", [{ stb: "box", status: "active" }])]);
    const purchase = await prepareTopUp(service, tv("1", "box"), "BASE-1M");
    const told = { udf1: "o-1", udf2: "é".repeat(30) };
    const { json } = await service.call("subscription-package-topup", { ...purchase, ...told });
    expect(JSON.stringify(json)).not.toMatch(/udf|o-1|é/);
    const transaction = await service.store.findTransaction(purchase["checkoutId"] as string);
    expect(transaction).toMatchObject(told);
  });
});

describe("timestamps", () => {
  test("are written in the provider's zone", async () => {
    const service = await startWith([person("1", [{ stb: "box", status: "active" }])], { timeZone: "Asia/Kathmandu" });
    const purchase = await prepareTopUp(service, tv("1", "box"), "BASE-1M");
    const { json } = await service.call("subscription-package-topup", purchase);
    expect(json.body.result.txnDate).toBe("2026-11-20 14:45:00");
    const listed = await service.call("get-subscription-package", tv("1", "box"));
    expect(listed.json.body.tv.subscriptions[0]).toMatchObject({
      startdate: "2026-11-20 14:45:00",
      enddate: "2026-12-20 14:45:00",
    });
  });
});
