import { describe, expect, test } from "vitest";
import type { Bouquet, Service } from "../../src/domain/bouquet.ts";
import { type RowContext, readCustomerRow } from "../../src/domain/customer-row.ts";
import { ADD_ON, asJson, labelOf, MONTHLY, QUARTERLY, stated } from "./builders.ts";

const TV: Bouquet = { ...MONTHLY, service: "tv", code: "TV-1M", name: "Family (MONTHLY)", plan: "Family" };
const KNOWN = [MONTHLY, QUARTERLY, ADD_ON, TV];

const CONTEXT: RowContext = {
  findBouquet: (service: Service, code: string) =>
    KNOWN.find((bouquet) => bouquet.service === service && bouquet.code === code),
};

const SUBSCRIPTION = { code: "NET-1M", startdate: "2026-01-31 00:00:00", enddate: "2026-02-28 00:00:00" };
const FIBER = { username: "fiber1", status: "active" };
const ROW = { cuid: "7001", first_name: "Asha", last_name: "Rai", status: "active", connections: {} };

function read(changes: object, context = CONTEXT) {
  return readCustomerRow(asJson({ ...ROW, ...changes }), context);
}

/** Errors of a row, as `field: problem`. */
function problemsOf(changes: object): string[] {
  const reading = read(changes);
  return reading.ok ? [] : reading.problems.map(({ field, problem }) => `${field}: ${problem}`);
}

const withFiber = (changes: object) => ({ connections: { internet: [{ ...FIBER, ...changes }] } });
const withSubscription = (changes: object) => withFiber({ subscriptions: [{ ...SUBSCRIPTION, ...changes }] });

describe("a customer's row", () => {
  test("gives particulars, connections in the order tv, internet, iptv, and subscriptions", () => {
    const connections = {
      iptv: [{ username: "stream1", status: "blocked" }],
      internet: [{ ...FIBER, segment: "gold", subscriptions: [SUBSCRIPTION] }],
      tv: [{ stb: "0001", status: "inactive" }],
    };
    const plain = { status: "active", segment: undefined, subscriptions: undefined };
    expect(read({ mobile: "9800000001", area: "Lalitpur", connections })).toEqual({
      ok: true,
      value: {
        cuid: "7001",
        firstName: "Asha",
        lastName: "Rai",
        mobile: "9800000001",
        status: "active",
        area: "Lalitpur",
        asOf: undefined,
        goodwill: undefined,
        connections: [
          { ...plain, service: "tv", reqId: "0001", status: "inactive" },
          {
            ...plain,
            service: "internet",
            reqId: "fiber1",
            segment: "gold",
            subscriptions: [stated("2026-01-31", "2026-02-28")],
          },
          { ...plain, service: "iptv", reqId: "stream1", status: "blocked" },
        ],
      },
    });
  });

  test("may leave out what is optional, by null too, and have empty names", () => {
    const reading = read({ first_name: "", last_name: "", mobile: null, connections: { tv: null, internet: [] } });
    expect(reading).toMatchObject({ ok: true, value: { firstName: "", mobile: undefined, connections: [] } });
  });

  test("may say whether it holds goodwill; else what holds for the file does", () => {
    const ofFile = { ...CONTEXT, goodwill: "held" } as const;
    expect(read({ goodwill: "lacking" }, ofFile)).toMatchObject({ ok: true, value: { goodwill: "lacking" } });
    expect(read({}, ofFile)).toMatchObject({ ok: true, value: { goodwill: "held" } });
    expect(problemsOf({ goodwill: "yes" })).toEqual(['goodwill: must be one of "lacking", "held"']);
  });

  test("may have the days of goodwill that an export tells: they are left unread", () => {
    expect(read(withSubscription({ goodwillDays: 3 }))).toEqual(read(withSubscription({})));
  });

  test("may name a bouquet that is known from an older catalogue only", () => {
    const retired = { ...QUARTERLY, code: "OLD-3M", name: "Old Fiber (QUARTERLY)", plan: "Old Fiber" };
    const reading = read(withSubscription({ code: "OLD-3M" }), { findBouquet: () => retired });
    const subscriptions = [{ plan: "Old Fiber", bouquet: labelOf(retired), unit: "month" }];
    expect(reading).toMatchObject({ ok: true, value: { connections: [{ subscriptions }] } });
  });

  test("counts by the day what is sold by the day", () => {
    const context = { findBouquet: () => ({ ...MONTHLY, period: { months: 0, days: 30 } }) };
    const connections = [{ subscriptions: [{ unit: "day" }] }];
    expect(read(withSubscription({}), context)).toMatchObject({ ok: true, value: { connections } });
  });

  test("may say nothing of a connection's subscriptions, which is not the same as none", () => {
    expect(read(withFiber({}))).toMatchObject({ value: { connections: [{ subscriptions: undefined }] } });
    expect(read(withFiber({ subscriptions: [] }))).toMatchObject({ value: { connections: [{ subscriptions: [] }] } });
  });

  test("may have a moment of its own, which is read later", () => {
    expect(read({ asOf: "2026-11-23T02:00:00Z" })).toMatchObject({ ok: true, value: { asOf: "2026-11-23T02:00:00Z" } });
    expect(problemsOf({ asOf: 5 })).toEqual(["asOf: must be a string"]);
  });

  test("may have the same name on two services, and two plans on one connection", () => {
    const both = [SUBSCRIPTION, { ...SUBSCRIPTION, code: "IP-1M" }];
    const connections = { internet: [{ ...FIBER, subscriptions: both }], iptv: [FIBER] };
    expect(read({ connections })).toMatchObject({ ok: true });
  });
});

describe("a customer's row is refused", () => {
  test.each(["cuid", "first_name", "last_name", "status", "connections"])("without %s", (field) => {
    expect(problemsOf({ [field]: undefined })).toEqual([`${field}: is required`]);
  });

  test.each([
    [{ cuid: 7001 }, "cuid: must be a string"],
    [{ first_name: null }, "first_name: must be a string"],
    [{ last_name: "R".repeat(201) }, "last_name: must have at most 200 characters"],
    [{ mobile: 9800000001 }, "mobile: must be a string"],
    [{ status: "blocked" }, 'status: must be one of "active", "inactive"'],
    [{ connections: [] }, "connections: must be an object"],
    [{ connections: { tv: {} } }, "connections.tv: must be a list"],
    [{ connections: { tv: ["0001"] } }, "connections.tv[0]: must be an object"],
    [{ connections: { tv: [{ status: "active" }] } }, "connections.tv[0].stb: is required"],
    [{ connections: { iptv: [FIBER, { status: "active" }] } }, "connections.iptv[1].username: is required"],
    [withFiber({ status: "off" }), 'connections.internet[0].status: must be one of "active", "inactive", "blocked"'],
    [withFiber({ segment: 7 }), "connections.internet[0].segment: must be a string"],
    [withFiber({ subscriptions: "none" }), "connections.internet[0].subscriptions: must be a list"],
  ])("for %j", (changes, problem) => {
    expect(problemsOf(changes)).toEqual([problem]);
  });

  test.each([
    [{ code: undefined }, "code: is required"],
    [{ startdate: "2026-02-30 00:00:00" }, "startdate: must be a date and time in the form YYYY-MM-DD HH:MM:SS"],
    [{ startdate: "2026-01-31" }, "startdate: must be a date and time in the form YYYY-MM-DD HH:MM:SS"],
    [{ enddate: "28-02-2026 00:00:00" }, "enddate: must be a date and time in the form YYYY-MM-DD HH:MM:SS"],
    [{ enddate: "2026-01-31 00:00:00" }, "enddate: must be later than startdate"],
  ])("for a subscription with %j", (changes, problem) => {
    expect(problemsOf(withSubscription(changes))).toEqual([`connections.internet[0].subscriptions[0].${problem}`]);
  });

  test.each(["NET-9M", "TV-1M", "net-1m"])("for the code %s, which no catalogue has for the service", (code) => {
    const place = "connections.internet[0].subscriptions[0].code";
    expect(problemsOf(withSubscription({ code }))).toEqual([
      `${place}: is not the code of any internet bouquet imported so far: ${code}, of customer ${ROW.cuid}`,
    ]);
  });

  test("for no segment, which customers share", () => {
    const connections = { tv: [{ stb: "1", status: "active", segment: "NA" }] };
    expect(problemsOf({ connections })).toEqual([]);
  });

  test.each(["7001   ", " 7001", "7001\u00a0", "\u200b7001", "7001\ufeff", "\u202a7001\u202c"])(
    "for an identifier such as %j, which no look-up would find",
    (padded) => {
      const subscriptions = [{ ...SUBSCRIPTION, code: padded }];
      const connections = {
        tv: [{ stb: padded, status: "active", segment: padded }],
        internet: [{ ...FIBER, username: padded, subscriptions }],
      };
      const problem = "must not begin or end with a blank or an unseen sign";
      const wrong = problemsOf({ cuid: padded, mobile: padded, area: padded, connections });
      expect(wrong.filter((each) => each.endsWith(problem)).map((each) => each.split(":")[0])).toEqual([
        ...["cuid", "mobile", "area", "connections.tv[0].stb", "connections.tv[0].segment"],
        ...["connections.internet[0].username", "connections.internet[0].subscriptions[0].code"],
      ]);
    },
  );

  test("for a connection that stands twice, by its second place", () => {
    const connections = { tv: ["1", "2", "1"].map((stb) => ({ stb, status: "active" })) };
    const problem = "stands twice in this customer, or differs only by case or accents from another";
    expect(problemsOf({ connections })).toEqual([`connections.tv[2].stb: ${problem}`]);
    const internet = ["sita", "Sita"].map((username) => ({ username, status: "active" }));
    expect(problemsOf({ connections: { internet } })).toEqual([`connections.internet[1].username: ${problem}`]);
    expect(problemsOf({ connections: { internet: internet.slice(0, 1), iptv: internet.slice(1) } })).toEqual([]);
  });

  test("for two subscriptions of one plan on one connection", () => {
    const subscriptions = [SUBSCRIPTION, { ...SUBSCRIPTION, code: "NET-3M" }];
    expect(problemsOf(withFiber({ subscriptions }))).toEqual([
      "connections.internet[0].subscriptions[1].code: belongs to a plan that this connection has twice",
    ]);
  });

  test("for fields that nobody knows, wherever they stand", () => {
    const subscriptions = [{ ...SUBSCRIPTION, price: 1 }];
    const connections = { internet: [{ ...FIBER, stb: "1", subscriptions }], radio: [] };
    expect(problemsOf({ name: "Asha", connections })).toEqual([
      "connections.internet[0].subscriptions[0].price: is not a known field",
      "connections.internet[0].stb: is not a known field",
      "connections.radio: is not a known field",
      "name: is not a known field",
    ]);
  });

  test("for all of its problems at once", () => {
    const connections = { tv: [{ stb: "", status: "active" }], internet: [{ username: "a" }] };
    expect(problemsOf({ cuid: 1, status: "on", connections })).toEqual([
      "cuid: must be a string",
      'status: must be one of "active", "inactive"',
      "connections.tv[0].stb: must not be empty",
      "connections.internet[0].status: is required",
    ]);
  });
});
