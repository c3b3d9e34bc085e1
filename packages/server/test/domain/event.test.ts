import { describe, expect, test } from "vitest";
import { type Connection, withEntry } from "../../src/domain/customer.ts";
import {
  type ConnectionMessage,
  eventId,
  eventMessage,
  eventOf,
  eventsBetween,
  type RecordedEvent,
  seqOfEventId,
} from "../../src/domain/event.ts";
import { createZone } from "../../src/domain/wall-time.ts";

const KEY = { environment: "production", cuid: "1000001", service: "internet", reqId: "trial1" } as const;
const AT = Date.parse("2026-11-23T08:00:00.123Z");
const NOW = { instant: AT, wall: "2026-11-23 08:00:00" };

function subscription(plan: string, addOn: boolean, start: string, end: string) {
  const bouquet = { code: `${plan}-1M`, name: plan, addOn };
  const run = {
    start,
    anchor: start,
    months: 1,
    days: 0,
    isInclusive: false,
    end,
    since: 1,
    goodwillDays: addOn ? 0 : 2,
  };
  return { plan, seq: 1, subscription: { plan, bouquet, ...run } };
}

const CONNECTION: Pick<Connection, "status" | "blocked" | "ledgers"> = {
  status: "active",
  blocked: false,
  ledgers: [
    subscription("SPORT", true, "2026-11-01 00:00:00", "2026-12-01 00:00:00"),
    { plan: "GONE", seq: 2, subscription: undefined },
    subscription("FIBER", false, "2026-11-10 00:00:00", "2026-12-10 00:00:00"),
  ],
};

const TOP_UP = {
  txnId: "01T",
  checkoutId: "c1",
  partnerId: 7,
  bouquetCode: "FIBER-1M",
  amount: 113_050n,
  commission: 2261n,
};

describe("an event", () => {
  test("has all that the connection has, base subscriptions first", () => {
    const { state } = eventOf("subscription.changed", AT, KEY, CONNECTION);
    expect(state).toEqual({
      blocked: false,
      subscriptions: [
        {
          ...{ plan: "FIBER", bouquetId: "FIBER-1M", name: "FIBER", addOn: false },
          ...{ start: "2026-11-10 00:00:00", end: "2026-12-10 00:00:00", goodwillDays: 2 },
        },
        {
          ...{ plan: "SPORT", bouquetId: "SPORT-1M", name: "SPORT", addOn: true },
          ...{ start: "2026-11-01 00:00:00", end: "2026-12-01 00:00:00", goodwillDays: 0 },
        },
      ],
    });
  });

  test.each([
    [{ status: "blocked", blocked: false }, true],
    [{ status: "active", blocked: true }, true],
    [{ status: "inactive", blocked: false }, false],
  ] as const)("is of a blocked connection where records or staff say so: %o", (status, blocked) => {
    expect(eventOf("connection.blocked", AT, KEY, { ...CONNECTION, ...status }).state.blocked).toBe(blocked);
  });

  test("is made for a new entry of a ledger, and for a block or unblock", () => {
    const kinds = (before: typeof CONNECTION, after: typeof CONNECTION, why?: "topup.recorded" | "topup.reversed") =>
      eventsBetween(KEY, before, after, NOW, why && { kind: why, topUp: TOP_UP }).map(({ kind, topUp }) => [
        kind,
        topUp,
      ]);
    const blocked = { ...CONNECTION, blocked: true };
    const ended = withEntry(CONNECTION, { plan: "FIBER", entry: { seq: 2, after: undefined } });
    const begun = withEntry(blocked, { plan: "NEW", entry: { seq: 1, after: undefined } });
    expect(kinds(CONNECTION, CONNECTION)).toEqual([]);
    expect(kinds({ ...CONNECTION, status: "blocked" }, { ...blocked, status: "blocked" })).toEqual([]);
    expect(kinds(CONNECTION, ended)).toEqual([["subscription.changed", undefined]]);
    expect(kinds(CONNECTION, ended, "topup.reversed")).toEqual([["topup.reversed", TOP_UP]]);
    expect(kinds(blocked, CONNECTION)).toEqual([["connection.unblocked", undefined]]);
    expect(kinds(CONNECTION, begun)).toEqual([
      ["subscription.changed", undefined],
      ["connection.blocked", undefined],
    ]);
  });

  test("has what its connection could use before, in the last one, if that has changed", () => {
    const was = (before: typeof CONNECTION, after: typeof CONNECTION) =>
      eventsBetween(KEY, before, after, NOW).map(({ state }) => state.was);
    const blocked = { ...CONNECTION, blocked: true };
    const without = (plan: string, of = CONNECTION) => withEntry(of, { plan, entry: { seq: 2, after: undefined } });
    const FIBER = { blocked: false, served: true, plan: "FIBER" };
    expect(was(CONNECTION, blocked)).toEqual([FIBER]);
    expect(was(CONNECTION, without("FIBER"))).toEqual([FIBER]);
    expect(was(CONNECTION, without("FIBER", blocked))).toEqual([undefined, FIBER]);
    expect(was(without("FIBER"), CONNECTION)).toEqual([{ blocked: false, served: false, plan: undefined }]);
    expect(was(CONNECTION, without("SPORT"))).toEqual([undefined]);
    const longer = {
      plan: "FIBER",
      seq: 2,
      subscription: { ...CONNECTION.ledgers[2]?.subscription, end: "2027-01-10 00:00:00" },
    };
    expect(was(CONNECTION, { ...CONNECTION, ledgers: [longer as (typeof CONNECTION.ledgers)[number]] })).toEqual([
      undefined,
    ]);
  });

  test("is told with both faces of its times, its money and its partner", () => {
    const event: RecordedEvent = {
      ...eventOf("topup.recorded", AT, KEY, { ...CONNECTION, ledgers: CONNECTION.ledgers.slice(2) }, TOP_UP),
      ...{ seq: 12, partner: "wallet" },
    };
    expect(eventMessage(event, createZone("Asia/Kathmandu"), 2)).toEqual({
      ...{ id: `evt_${AT}_12`, type: "topup.recorded", timestamp: "2026-11-23T08:00:00.123Z" },
      data: {
        ...{ environment: "production", cuid: "1000001" },
        connection: { service: "internet", reqId: "trial1", blocked: false },
        subscriptions: [
          {
            ...{ plan: "FIBER", bouquetId: "FIBER-1M", name: "FIBER", addOn: false },
            ...{ start: "2026-11-10 00:00:00", end: "2026-12-10 00:00:00", goodwillDays: 2 },
            ...{ startAt: "2026-11-09T18:15:00.000Z", endAt: "2026-12-09T18:15:00.000Z" },
          },
        ],
        topUp: {
          txnId: "01T",
          checkoutId: "c1",
          partner: "wallet",
          bouquetId: "FIBER-1M",
          amount: "1130.50",
          commission: "22.61",
        },
      },
    });
  });

  test("has an instant for a time that clocks skip: the first after it", () => {
    const ledgers = [subscription("FIBER", false, "2026-03-29 02:30:00", "2026-10-25 02:30:00")];
    const event = {
      ...eventOf("subscription.changed", AT, KEY, { ...CONNECTION, ledgers }),
      seq: 1,
      partner: undefined,
    };
    const [told] = (eventMessage(event, createZone("Europe/Berlin"), 2) as ConnectionMessage).data.subscriptions;
    expect([told?.startAt, told?.endAt]).toEqual(["2026-03-29T01:00:00.000Z", "2026-10-25T00:30:00.000Z"]);
  });

  test("is named by an id that tells its number, and nothing else does", () => {
    expect(seqOfEventId(eventId({ at: AT, seq: 12 }))).toBe(12);
    for (const text of ["12", "evt_12", "evt_1_x", "evt_1_12 ", ""]) expect(seqOfEventId(text)).toBeUndefined();
  });
});
