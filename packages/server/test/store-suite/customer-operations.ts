import type { Static } from "typebox";
import { expect, test } from "vitest";
import { Refused } from "../../src/domain/refused.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { reverseGoodwill } from "../../src/office/corrections/operations.ts";
import { listAreas, listConnections } from "../../src/office/customers/connections.ts";
import { connectionOrGone, cuidMeant } from "../../src/office/customers/find.ts";
import { showLedgers } from "../../src/office/customers/ledgers.ts";
import { addNote } from "../../src/office/customers/notes.ts";
import { searchCustomers, showCustomer } from "../../src/office/customers/operations.ts";
import { listRefusedCalls, listRefusedCallsOfCustomer } from "../../src/office/customers/refused-calls.ts";
import { readInput } from "../../src/office/input.ts";
import type { RefusedCall } from "../../src/store/store.ts";
import { refusal, run } from "../support/desk.ts";
import { plain } from "./customers.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import {
  expectRecorded,
  FAMILY,
  FIBER,
  HARI_TV,
  importRows,
  openProvider,
  RAM_NET,
  RAM_TV,
  SITA,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

const CUID = SITA.cuid;
const END = "2026-12-10 09:00:00";

/** Customers as staff see them. */
export function testCustomerOperations(makeDatabase: MakeDatabase): void {
  test("customers are searched by every code, by name, and by a transaction, page by page", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const { txnId, checkoutId } = await opened.topUp(SITA_NET, "NET-1M");
    // A username may equal another customer's name.
    const iptv = [{ username: "rai", status: "active" }];
    await importRows(store, now, plain("5", { first_name: "Ćamil", last_name: "Österreich", connections: { iptv } }));
    const search = (input: object) => run(opened.desk(), searchCustomers, input);
    const cuids = async (q: string, more: object = {}) => (await search({ q, ...more })).items.map(({ cuid }) => cuid);
    const searches: [string, string[]][] = [
      ["9800000101", [CUID]],
      ["2000002", ["2000002"]],
      [" ram ", ["2000002"]],
      ["RAI sita", [CUID]],
      ["rai", ["5", CUID]],
      ["Camil OSTER", ["5"]],
      ["sita camil", []],
      ["%", []],
      [txnId.toLowerCase(), [CUID]],
      [checkoutId, [CUID]],
    ];
    for (const [q, expected] of searches) expect(await cuids(q), q).toEqual(expected);
    expect(await search({ q: txnId, environment: "trial" })).toMatchObject({
      items: [{ environment: "production", connections: [{ service: "tv" }, { reqId: "sita", status: "active" }, {}] }],
      transactions: [{ txnId, amount: "1130.00", partner: "wallet", bouquetName: "Fiber 100 Mbps (MONTHLY)" }],
    });
    expect(await cuids("sita", { environment: "trial" })).toEqual([]);
    for (const [q, all] of [
      [undefined, ["2000001", "2000002", "2000003", "2000004", "5"]],
      ["rai", ["5", CUID]],
      ["2000", ["2000001", "2000002", "2000003", "2000004"]],
    ] as const) {
      const seen: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: Awaited<ReturnType<typeof search>> = await search({ q, cursor, limit: 1 });
        seen.push(...page.items.map(({ cuid }) => cuid));
        ({ cursor } = page);
      }
      expect(seen).toEqual(all);
    }
  });

  test("a search finds top-ups by the partner's order number and by the end of the txnId that lists show", async () => {
    const opened = await openProvider(makeDatabase);
    const topUp = async (...of: Parameters<typeof opened.command>) =>
      expectRecorded(await opened.store.settleTopUp(opened.command(...of)));
    const first = await topUp(SITA_NET, "NET-1M", { udf1: "PO-77" });
    const second = await topUp(RAM_NET, "NET-1M", { udf1: "PO-77" });
    const third = await topUp(SITA_TV, "TV-1M", { udf1: "9800000102" });
    const search = async (q: string, more: object = {}) => {
      const { items, transactions } = await run(opened.desk(), searchCustomers, { q, ...more });
      return [transactions.map(({ txnId }) => txnId), items.map(({ cuid }) => cuid)];
    };
    expect(await search("PO-77")).toEqual([
      [second.txnId, first.txnId],
      [CUID, "2000002"],
    ]);
    // An order number can be the mobile number of another customer.
    expect(await search("9800000102")).toEqual([[third.txnId], ["2000002"]]);
    for (const { txnId, cuid } of [first, third])
      for (const end of [txnId.slice(-6), `…${txnId.slice(-6)}`, txnId.slice(-9).toLowerCase()])
        expect(await search(end), end).toEqual([[txnId], [cuid]]);
    const short = first.txnId.slice(-5);
    for (const q of [short, "PO-7", "PO_77"]) expect(await search(q), q).toEqual([[], []]);
    for (const q of ["PO-77", first.txnId.slice(-6)])
      expect(await search(q, { environment: "trial" }), q).toEqual([[], []]);
    const { items } = await run(opened.desk(), listConnections, { search: first.txnId.slice(-6) });
    expect(new Set(items.map(({ cuid }) => cuid))).toEqual(new Set([CUID]));
  });

  test("a search finds codes by their beginnings and ends, a mobile number in any form, and says which code fits", async () => {
    const { store, now, desk } = await openProvider(makeDatabase, { defaultCountry: "NP" });
    const tv = [{ stb: "0077AB12", status: "active" }];
    const row = plain("700", { first_name: "Zo\u00eb", mobile: "+977 984-1234567", connections: { tv } });
    await importRows(store, now, row, plain("7001"), plain("7"));
    const search = async (q: string) =>
      (await run(desk(), searchCustomers, { q })).items.map(({ cuid, code }) => [cuid, code]);
    const byMobile = [["700", "+977 984-1234567"]];
    for (const q of [
      "+977 984",
      "9841",
      "984-12",
      "984 123 4567",
      "4567",
      "\u096f\u096e\u096a\u0967",
      "009779841234567",
    ])
      expect(await search(q), q).toEqual(byMobile);
    for (const q of ["0077ab", "ab12"]) expect(await search(q), q).toEqual([["700", "0077AB12"]]);
    expect(await search("zoe")).toEqual([["700", null]]);
    for (const q of ["1234", "412", "234567 8", "077A"]) expect(await search(q), q).toEqual([]);
    // A text of fewer than four characters must be a whole code.
    expect(await search("700")).toEqual([["700", "700"]]);
    expect((await search("7001")).map(([cuid]) => cuid)).toEqual(["7001"]);
  });

  test("a code, or else a name, means one customer or is refused", async () => {
    const { store, now } = await openProvider(makeDatabase);
    await importRows(store, now, plain("5", { first_name: "Sita", last_name: "KC" }));
    const meant = (code: string, environment: "production" | "trial" = "production") =>
      cuidMeant(store, environment, code);
    // A code that fits has priority over names.
    for (const code of ["sita", "9800000101", "rai"]) expect(await meant(code)).toBe(CUID);
    expect(await refusal(meant("Sit"))).toEqual({
      ...{ code: "conflict", problems: [] },
      words: `Sit fits several customers: give the customer id of one with --byCuid\n  ${CUID}  Sita Rai\n  5  Sita KC`,
    });
    expect(await refusal(meant("123"))).toMatchObject({ words: "no production customer has the code 123" });
    expect(await refusal(meant("sita", "trial"))).toMatchObject({
      ...{ code: "not_found" },
      words: "no trial customer has the code or name sita, but a production one has: add --environment production",
    });
  });

  test("a customer is shown with what partners see, and who blocked what", async () => {
    const opened = await openProvider(makeDatabase);
    await opened.block(SITA_TV, true);
    const show = (cuid: string, more: object = {}) => run(opened.desk(), showCustomer, { cuid, ...more });
    expect(await show(CUID)).toMatchObject({
      ...{ environment: "production", cuid: CUID, firstName: "Sita", mobile: "9800000101", status: "active" },
      asOf: "2026-11-20T09:00:00.000Z",
      connections: [
        {
          ...{ service: "tv", status: "blocked", segment: "sd", blockedByRecords: false },
          blockedByStaff: { at: "2026-11-20T09:00:00.000Z", author: "tester", reason: "asked for" },
          plans: [
            { plan: FAMILY, state: "blocked", run: { bouquetId: "TV-1M", addOn: false, end: END, daysLeft: 20 } },
          ],
        },
        { service: "internet", status: "active", segment: null, blockedByStaff: null, plans: [{ state: "running" }] },
        { service: "iptv", status: "inactive", plans: [] },
      ],
    });
    const { connections } = await show(HARI_TV.cuid);
    expect(connections).toMatchObject([{ status: "blocked", blockedByStaff: null, blockedByRecords: true }]);
    expect(await refusal(show("9"))).toMatchObject({ code: "not_found" });
    expect(await refusal(show(CUID, { environment: "trial" }))).toMatchObject({ code: "not_found" });
  });

  test("notes by staff stay with time and author, newest first, and are audited", async () => {
    const opened = await openProvider(makeDatabase);
    const write = (note: string, more: object = {}) => run(opened.desk(), addNote, { cuid: CUID, note, ...more });
    await write("pays on Fridays");
    opened.now += 60_000;
    expect(await write(" called about the outage ")).toMatchObject({ seq: 2, note: "called about the outage" });
    expect((await run(opened.desk(), showCustomer, { cuid: CUID })).notes).toEqual([
      { seq: 2, wall: "2026-11-20 09:01:00", author: "tester", note: "called about the outage" },
      { seq: 1, wall: "2026-11-20 09:00:00", author: "tester", note: "pays on Fridays" },
    ]);
    expect((await run(opened.desk(), showCustomer, { cuid: RAM_TV.cuid })).notes).toEqual([]);
    const ofCustomer = await listEntries(opened.store.engine.db, { cuid: CUID, action: "customer.note" }, 5);
    expect(ofCustomer.map(({ subject, after }) => [subject, after])).toEqual([
      [`production ${CUID}`, '{"note":"called about the outage"}'],
      [`production ${CUID}`, '{"note":"pays on Fridays"}'],
    ]);
    expect(await refusal(write("x", { cuid: "9" }))).toMatchObject({ code: "not_found" });
    expect(await refusal(write("x", { environment: "trial" }))).toMatchObject({ code: "not_found" });
    for (const note of ["", "  ", "a\nb", "x".repeat(501)])
      expect(() => readInput(addNote.input, { cuid: CUID, note })).toThrow(Refused);
  });

  test("ledgers show each entry with what it found and left, also of a connection that is gone", async () => {
    const opened = await openProvider(makeDatabase);
    const { store } = opened;
    const { txnId, checkoutId } = await opened.topUp(SITA_NET, "NET-3M");
    await opened.reverse(checkoutId, "paid twice");
    await opened.grant(SITA_NET, 2);
    await run(opened.desk(), reverseGoodwill, { ...SITA_NET, reason: "typo" });
    await opened.restate({ ...SITA, connections: {} });
    const show = (more: object = {}) => run(opened.desk(), showLedgers, { cuid: CUID, ...more });
    const { plans } = await show();
    expect(plans.map(({ service, plan, run: last }) => [service, plan, last])).toEqual([
      ["internet", FIBER, null],
      ["tv", FAMILY, null],
    ]);
    const none = { before: null, after: null };
    const [first, longer, end] = [END, "2027-03-10 09:00:00", "2026-12-12 09:00:00"].map((at) => ({ end: at }));
    expect(plans[0]?.entries).toMatchObject([
      {
        ...{ seq: 1, kind: "import", ...none, after: first, asOf: "2026-11-20 09:00:00", stated: first, txnId: null },
        ...{
          goodwill: "lacking",
          counted: { from: "2026-11-10 09:00:00", months: 1, days: 0, to: END, goodwillDays: 0 },
        },
      },
      {
        ...{ seq: 2, kind: "top_up", txnId, partner: "wallet", amount: "3220.00", period: { months: 3, days: 0 } },
        ...{ before: first, after: longer, bouquetName: "Fiber 100 Mbps (QUARTERLY)", reversedBy: 3, author: null },
      },
      { seq: 3, kind: "reversal", reverses: 2, before: longer, after: first, author: "tester", reason: "paid twice" },
      {
        seq: 4,
        kind: "goodwill",
        period: { months: 0, days: 2 },
        after: end,
        counted: { goodwillDays: 2 },
        reversedBy: 5,
      },
      { seq: 5, kind: "reversal", reverses: 4, after: first },
      { seq: 6, kind: "import", before: first, after: null, stated: null, counted: null },
    ]);
    expect((await show({ service: "tv" })).plans.map(({ plan }) => plan)).toEqual([FAMILY]);
    expect(await show({ reqId: "nobody" })).toEqual({ plans: [] });
    expect(await show({ environment: "trial" })).toEqual({ plans: [] });
    expect(await refusal(connectionOrGone({ store }, { reqId: "sita" }))).toEqual({
      ...{ code: "not_found", problems: [] },
      words: "there is no connection sita: if it is gone, name its customer with --cuid",
    });
    expect(await connectionOrGone({ store }, { reqId: "sita", cuid: CUID })).toMatchObject({
      ...{ key: SITA_NET, customer: { lastName: "Rai" }, connection: undefined, block: undefined },
    });
  });

  test("connections are listed with their subscriptions, by customer id, or by their ends, page by page", async () => {
    const opened = await openProvider(makeDatabase);
    await opened.topUp(RAM_TV, "TV-1M");
    await opened.block(SITA_TV, true);
    const internet = [{ ...SITA.connections.internet[0], username: "nine", segment: "hills" }];
    const iptv = [{ username: "nine-tv", status: "active" }];
    const nine = plain("9", { area: "Lalitpur South", connections: { internet, iptv } });
    await importRows(opened.store, opened.now, nine, plain("8", { area: "Lalitpur" }));
    type Input = Static<(typeof listConnections)["input"]>;
    const list = (input: Input) => run(opened.desk(), listConnections, input);
    const rows = async (input: Input) =>
      (await list(input)).items.map(({ cuid, reqId, end, state }) => `${cuid} ${reqId} ${end?.slice(0, 10)} ${state}`);
    const net = ["2000001 sita 2026-12-10 running", "2000001 007700000000001 2026-12-10 blocked"];
    const ends = [...net, "9 nine 2026-12-10 running", "2000002 007700000000002 2026-12-20 running"];
    const lists: [Input, string[]][] = [
      [{ endsWithin: 30 }, ends],
      [{ endsWithin: 20 }, ends.slice(0, 3)],
      [{ endsWithin: 19 }, []],
      [{ endsWithin: 30, service: "tv" }, [net[1] ?? "", ends[3] ?? ""]],
      [{ endedWithin: 20 }, ["2000002 ram 2026-11-01 ended"]],
      [{ endedWithin: 18 }, []],
      [{ endedWithin: 20, endsWithin: 20 }, ["2000002 ram 2026-11-01 ended", ...ends.slice(0, 3)]],
      [{ state: "blocked" }, [net[1] ?? "", "2000004 007700000000004 undefined no_subscription"]],
      [
        { state: "no_subscription", service: "iptv" },
        ["2000001 sita-iptv undefined no_subscription", "9 nine-tv undefined no_subscription"],
      ],
      [{ segment: "hills" }, ["9 nine 2026-12-10 running"]],
      [{ area: "Lalitpur South" }, ["9 nine 2026-12-10 running", "9 nine-tv undefined no_subscription"]],
      [{ area: "Lalitpur" }, []],
      [{ area: "Lalitpur South", state: "running", service: "internet" }, ["9 nine 2026-12-10 running"]],
      [{ area: "Lalitpur South", environment: "trial" }, []],
      [{ state: "running" }, [net[0] ?? "", ...ends.slice(2)]],
      [{ state: "running", endsWithin: 20 }, [net[0] ?? "", ends[2] ?? ""]],
      [{ environment: "trial" }, []],
      [{ search: "lalitpur sou" }, ["9 nine 2026-12-10 running", "9 nine-tv undefined no_subscription"]],
      [{ search: "hari" }, ["2000004 007700000000004 undefined no_subscription"]],
      [{ search: "8" }, ["8 null undefined no_subscription"]],
    ];
    for (const [input, expected] of lists) expect(await rows(input), JSON.stringify(input)).toEqual(expected);
    const items = (await list({ segment: "hills" })).items;
    expect(items).toMatchObject([
      { plan: FIBER, bouquetId: "NET-1M", daysLeft: 20, firstName: "A", segment: "hills", area: "Lalitpur South" },
    ]);
    expect(await run(opened.desk(), listAreas, {})).toEqual({
      items: [
        { area: "Lalitpur", customers: 1 },
        { area: "Lalitpur South", customers: 1 },
      ],
    });
    const areaAfter = async (more: object) => {
      opened.now += 1_000;
      await importRows(opened.store, opened.now, plain("8", more));
      return (await run(opened.desk(), showCustomer, { cuid: "8" })).area;
    };
    // A file without areas leaves them; an empty text removes one.
    for (const [more, area] of [
      [{}, "Lalitpur"],
      [{ area: "Patan" }, "Patan"],
      [{ area: "N/A" }, null],
      [{ area: "Patan" }, "Patan"],
      [{ area: "" }, null],
    ] as const)
      expect(await areaAfter(more)).toBe(area);
    expect((await list({ endedWithin: 20 })).items).toMatchObject([{ daysLeft: -19 }]);
    for (const input of [{}, { endsWithin: 30, endedWithin: 30 }, { search: "2000" }]) {
      const all = await list(input);
      expect([all.items.length > 3, all.cursor]).toEqual([true, null]);
      const seen: object[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: Awaited<ReturnType<typeof list>> = await list({ ...input, ...(cursor && { cursor }), limit: 1 });
        seen.push(...page.items);
        ({ cursor } = page);
      }
      expect(seen).toEqual(all.items);
    }
    for (const [input, field] of [
      [{ cursor: "x" }, "cursor"],
      [{ search: "rai", service: "tv" }, "search"],
      [{ search: "rai", area: "Lalitpur" }, "search"],
      [{ state: "running", endedWithin: 1 }, "endedWithin"],
    ] as const)
      expect(await refusal(list(input))).toMatchObject({ problems: [{ field }] });
  });

  test("refused calls are listed, and those that named a customer by any of its codes", async () => {
    const opened = await openProvider(makeDatabase);
    const { store, now } = opened;
    const call = { partnerId: 1, environment: "production", operation: "get-customer-information" } as const;
    const refused = (code: string | undefined, reason = "customer_inactive"): RefusedCall => {
      return { ...call, at: now, reason, code, requestId: String(code) };
    };
    await store.recordRefusedCalls([refused(SITA.mobile), refused("ram", "customer_not_found"), refused(undefined)]);
    const codes = async (input: object) =>
      (await run(opened.desk(), listRefusedCalls, input)).items.map(({ code }) => code);
    expect(await codes({})).toEqual([null, "ram", SITA.mobile]);
    expect(await codes({ reason: "customer_not_found", partner: "wallet" })).toEqual(["ram"]);
    expect(await refusal(codes({ partner: "bank" }))).toMatchObject({ problems: [{ field: "partner" }] });
    const { cursor } = await run(opened.desk(), listRefusedCalls, { limit: 2 });
    expect(await codes({ cursor })).toEqual([SITA.mobile]);
    const ofCustomer = (cuid: string) => run(opened.desk(), listRefusedCallsOfCustomer, { cuid });
    const shown = { at: "2026-11-20T09:00:00.000Z", partner: "wallet", operation: call.operation };
    expect(await ofCustomer(CUID)).toEqual({
      items: [{ ...shown, reason: "customer_inactive", detail: null, code: SITA.mobile, requestId: SITA.mobile }],
      cursor: null,
    });
    expect(await refusal(ofCustomer("nobody"))).toMatchObject({ code: "not_found" });
  });
}

/** What happens at once. */
export function testCustomerOperationsAtOnce(makeDatabase: MakeDatabase): void {
  test("a search follows changes of names, numbers and connections, and a check compares its terms", async () => {
    const { store, now, desk } = await openProvider(makeDatabase, { defaultCountry: "NP" });
    const search = async (q: string) => (await run(desk(), searchCustomers, { q })).items.length;
    const internet = [{ username: "maya.net", status: "active" }];
    await importRows(store, now, plain("9", { first_name: "Maya", mobile: "9841234567", connections: { internet } }));
    expect(await Promise.all(["maya", "9841", "maya.net"].map(search))).toEqual([1, 1, 1]);
    await importRows(store, now + 1_000, plain("9", { first_name: "Mina", mobile: "9851234567", connections: {} }));
    expect(await Promise.all(["maya", "9841", "maya.net", "mina", "9851"].map(search))).toEqual([0, 0, 0, 1, 1]);
    expect(await findWrong(store)).toEqual([]);
  });
}
