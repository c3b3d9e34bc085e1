import { expect, test } from "vitest";
import { RECORDING_DEADLINE_MS } from "../../src/domain/top-up.ts";
import { listEntries, readEntries } from "../../src/office/audit/sql.ts";
import { cancelBulk, previewBulk, showBulk, showSegments, startBulk } from "../../src/office/bulk/operations.ts";
import { PORTION } from "../../src/office/bulk/plan.ts";
import type { Desk } from "../../src/office/office.ts";
import { endSession, openSession } from "../../src/office/session/sql.ts";
import { addTarget } from "../../src/office/targets/operations.ts";
import { RightsEnded, StoreUnavailable } from "../../src/store/errors.ts";
import { by } from "../support/by.ts";
import { deskOf, refusal, run } from "../support/desk.ts";
import { STORED_PASSWORD, staffOf } from "../support/staff.ts";
import { plain } from "./customers.ts";
import { findWrong, type MakeDatabase } from "./database.ts";
import { endOf, FAMILY, FIBER, HARI_TV, importRows, openProvider, SITA, SITA_NET, SITA_TV } from "./provider.ts";

const DAY_MS = 86_400_000;
const GOODWILL = { action: "goodwill", days: 3, reason: "outage" } as const;
const [END, LATER] = ["2026-12-10 09:00:00", "2026-12-13 09:00:00"];

/** Work continues when the test says so. */
async function openBulk(makeDatabase: MakeDatabase, many = 0) {
  const opened = await openProvider(makeDatabase);
  const { store } = opened;
  const names = Array.from({ length: many }, (_, index) => `m${index}`);
  const { subscriptions } = SITA.connections.internet[0] as { readonly subscriptions: readonly object[] };
  const rows = names.map((username) =>
    plain(username, { connections: { internet: [{ username, status: "active", subscriptions }] } }),
  );
  for (let from = 0; from < many; from += 100) await importRows(store, opened.now, ...rows.slice(from, from + 100));
  const waiting: (() => Promise<void>)[] = [];
  const ending = new AbortController();
  const deskFor = (more: Partial<Desk> = {}) =>
    deskOf({ store: more.store ?? store, clock: more.clock ?? (() => opened.now) }, more.actor ?? { name: "tester" }, {
      goOn: async (work) => void waiting.push(() => work(ending.signal)),
    });
  const desk = deskFor();
  const start = async (input: object, at = desk) => {
    const { id } = await run(at, startBulk, { ...GOODWILL, ...input });
    const goOn = async () => {
      const failure = await waiting
        .shift()?.()
        .catch((error: unknown) => error);
      return { failure, run: await run(at, showBulk, { id }) };
    };
    return { id, goOn };
  };
  const preview = (input: object) => run(desk, previewBulk, { ...GOODWILL, ...input });
  return { opened, store, names, desk, deskFor, ending, start, preview };
}

/** The domain decides for each connection. These tests show which connections are chosen, and that all is written. */
export function testBulk(makeDatabase: MakeDatabase): void {
  test("lines name a connection, or a customer's, each once; an unclear one is listed, and nothing is guessed", async () => {
    const { opened, preview, store } = await openBulk(makeDatabase);
    const alike = { tv: [{ stb: "six", status: "active" }], iptv: [{ username: "six", status: "active" }] };
    await importRows(store, opened.now, plain("6", { connections: alike }));
    const tv = ["2000001", "tv", SITA_TV.reqId];
    const good = ["sita", "  sita ", "2000001 internet sita", tv.join(","), tv.join("\t"), ""];
    const bad = ["six", "nobody", "9 internet sita", "2 dsl net-2", "two words", "gita", "2000001"];
    const { effects, problems, ...counts } = await preview({ connections: [...good, ...bad] });
    expect(effects).toMatchObject([
      { service: "internet", plan: FIBER, before: { end: END }, after: { end: LATER }, repeated: false },
      { cuid: "2000001", service: "tv", plan: FAMILY },
    ]);
    expect(problems).toEqual([
      { line: "2 dsl net-2", problem: "must be a reqId, or a cuid, a service and a reqId" },
      { line: "two words", problem: "must be a reqId, or a cuid, a service and a reqId" },
      { line: "six", problem: expect.stringMatching(/^several connections fit: 6 (ip)?tv six; 6 (ip)?tv six$/) },
      { line: "nobody", problem: "there is no connection nobody" },
      { line: "2000001", problem: "there is no connection 2000001" },
      { line: "9 internet sita", problem: "there is no internet connection sita of customer 9" },
      { line: "2000003 internet gita", problem: "there is no base subscription to give days to: it has none" },
    ]);
    expect(counts).toEqual({ count: 2, problemCount: 7 });
  });

  test("a segment is all of its connections", async () => {
    const { preview, desk } = await openBulk(makeDatabase);
    const block = await preview({ action: "block", segment: "sd", connections: ["sita"] });
    expect(block.effects.map(({ service }) => service)).toEqual(["internet", "tv"]);
    const { problems } = await preview({ action: "unblock", segment: "sd" });
    expect(problems).toEqual([{ line: `2000001 tv ${SITA_TV.reqId}`, problem: "is not blocked" }]);
    expect(await preview({ segment: "sd", environment: "trial" })).toMatchObject({ count: 0, problemCount: 0 });
    expect(await run(desk, showSegments, {})).toEqual({ items: [{ segment: "sd", connections: 1 }] });
    expect(await run(desk, showSegments, { environment: "trial" })).toEqual({ items: [] });
  });

  test("all connections are in the audit trail before the first is corrected; then each portion by itself", async () => {
    const { opened, store, names, start } = await openBulk(makeDatabase, PORTION + 1);
    const before = (await listEntries(store.engine.db, {}, 1))[0]?.seq ?? 0;
    const net = { ...SITA_NET, cuid: "m200", reqId: "m200" };
    const { goOn } = await start({ connections: [...names, "nobody"] });
    const entries = await readEntries(store.engine.db, before, 10);
    expect(entries).toMatchObject([
      { action: "bulk.goodwill", subject: "production", reason: "outage", author: "tester" },
    ]);
    const after = JSON.parse(entries[0]?.after ?? "");
    expect([Object.keys(after).length, after["m0"]]).toEqual([PORTION + 1, { "internet m0": { days: 3 } }]);
    expect(await endOf(store, net, FIBER)).toBe(END);
    opened.now += 60_000;
    expect((await goOn()).run).toMatchObject({
      ...{ state: "done", action: "goodwill", author: "tester", done: PORTION + 1, count: PORTION + 1, problem: null },
      failed: [{ connection: "nobody", problem: "there is no connection nobody" }],
    });
    expect(await endOf(store, net, FIBER)).toBe(LATER);
    const ledgers = await store.engine.readLedgers(store.engine.db, "production", ["m0"]);
    expect(ledgers[0]?.entries.at(-1)).toMatchObject({
      kind: "goodwill",
      reason: "outage",
      at: { instant: opened.now },
    });
    expect(await readEntries(store.engine.db, before, 10)).toEqual(entries);
    expect(await findWrong(store)).toEqual([]);
  });

  test("it does what each correction would do by itself, and tells targets", async () => {
    const { opened, store, start, preview } = await openBulk(makeDatabase);
    await run(opened.desk(), addTarget, { name: "billing", billing: true });
    const both = { connections: ["sita", SITA_TV.reqId] };
    const { goOn } = await start(both);
    // One connection is deleted between preview and correction.
    await opened.restate({ ...SITA, connections: { internet: SITA.connections.internet } });
    expect((await goOn()).run).toMatchObject({
      ...{ state: "done", done: 2 },
      failed: [
        {
          connection: `2000001 tv ${SITA_TV.reqId}`,
          problem: `there is no tv connection ${SITA_TV.reqId} of customer 2000001`,
        },
      ],
    });
    expect(await endOf(store, SITA_NET, FIBER)).toBe(LATER);
    const block = { action: "block", days: undefined, connections: ["sita", HARI_TV.reqId] };
    expect((await (await start(block)).goOn()).run).toMatchObject({ state: "done", failed: [] });
    expect((await store.findConnection(SITA_NET))?.connection?.blocked).toBe(true);
    expect((await preview(block)).problems).toMatchObject([
      { problem: "is blocked already" },
      { problem: "is blocked already" },
    ]);
    const events = await opened.database.read("SELECT kind, req_id FROM event ORDER BY seq");
    expect(events.map(({ kind, req_id }) => [kind, req_id])).toEqual([
      ["subscription.changed", SITA_TV.reqId],
      ["subscription.changed", "sita"],
      ["connection.blocked", "sita"],
    ]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("a connection with goodwill of the last day is listed, and left out if that is asked for", async () => {
    const { opened, preview, start } = await openBulk(makeDatabase);
    await (await start({ connections: ["sita"] })).goOn();
    opened.now += DAY_MS - 1;
    const both = { connections: ["sita", SITA_TV.reqId] };
    const repeated = async () => (await preview(both)).effects.map((effect) => effect.repeated);
    expect(new Set(await repeated())).toEqual(new Set([false, true]));
    const { effects, problems } = await preview({ ...both, skipRepeated: true });
    expect(effects).toMatchObject([{ service: "tv" }]);
    expect(problems).toEqual([{ line: "2000001 internet sita", problem: "was given goodwill in the last day" }]);
    opened.now += 1;
    expect(await repeated()).toEqual([false, false]);
  });

  test("one is made at a time, and none if there is nothing to do or too much", async () => {
    const { start, store } = await openBulk(makeDatabase);
    const [first, second] = await Promise.allSettled([start({ connections: ["sita"] }), start({ segment: "sd" })]);
    expect(new Set([first.status, second.status])).toEqual(new Set(["fulfilled", "rejected"]));
    expect(await listEntries(store.engine.db, { action: "bulk.goodwill" }, 5)).toHaveLength(1);
    expect(await refusal(start({ connections: ["sita"] }))).toMatchObject({
      ...{ code: "conflict", words: "another bulk correction is running: wait until it is done" },
    });
    for (const each of [first, second]) if (each.status === "fulfilled") await each.value.goOn();
    expect(await refusal(start({ connections: ["nobody"] }))).toMatchObject({ code: "conflict" });
    const connections = Array.from({ length: 20_001 }, (_, index) => `${index} tv x`);
    expect(await refusal(start({ connections }))).toMatchObject({ problems: [{ field: "segment" }] });
    expect(await refusal(start({}))).toMatchObject({ problems: [{ field: "connections" }] });
    const noDays = { connections: ["sita"], days: undefined };
    expect(await refusal(start(noDays))).toMatchObject({ problems: [{ field: "days" }] });
    await (await start({ segment: "sd" })).goOn();
  });

  test("it ends at a portion that fails, if it is cancelled or if the service stops, and a new one continues", async () => {
    const { names: connections, store, desk, deskFor, start, ending } = await openBulk(makeDatabase, PORTION + 1);
    let left = 2;
    const transact: typeof store.engine.transact = (work) => {
      left -= 1;
      return left < 0 ? Promise.reject(new StoreUnavailable("away")) : store.engine.transact(work);
    };
    const failing = deskFor({ store: { ...store, engine: { ...store.engine, transact } } });
    const { failure, run: failed } = await (await start({ connections }, failing)).goOn();
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect(failed).toMatchObject({ state: "failed", done: PORTION, count: PORTION + 1, problem: "away" });
    const rest = await (await start({ connections, skipRepeated: true })).goOn();
    expect(rest.run).toMatchObject({ state: "done", done: 1 });

    const cancelled = await start({ connections });
    await run(desk, cancelBulk, { id: cancelled.id });
    expect((await cancelled.goOn()).run).toMatchObject({ state: "cancelled", done: PORTION });
    expect(await refusal(run(desk, cancelBulk, { id: cancelled.id }))).toMatchObject({ code: "conflict" });
    expect(await refusal(run(desk, showBulk, { id: "x" }))).toMatchObject({ code: "not_found" });
    const stopped = await start({ connections });
    ending.abort();
    expect((await stopped.goOn()).run).toMatchObject({ state: "failed", problem: "the service was stopped" });
  });

  test("it continues after its author's log-in has ended, and not without the author's role", async () => {
    const { opened, store, deskFor, start } = await openBulk(makeDatabase);
    const member = await staffOf(store).add("maya", "support", by(opened.now));
    const session = {
      id: "s",
      createdAt: opened.now,
      lastUsedAt: opened.now,
      address: undefined,
      userAgent: undefined,
    };
    await openSession(store.engine, Buffer.from("s"), member.id, STORED_PASSWORD, session);
    const authority = { staffId: member.id, role: "support", sessionId: "s" } as const;
    const desk = deskFor({ actor: { name: "maya", authority } });
    const [first, second] = [{ connections: ["sita"] }, { segment: "sd" }];
    const continued = await start(first, desk);
    await endSession(store.engine, member.id, "s");
    expect((await continued.goOn()).run).toMatchObject({ state: "done" });
    await expect(start(second, desk)).rejects.toThrow(RightsEnded);
    const beyond = deskFor({ actor: { name: "maya", authority: { ...authority, sessionId: undefined } } });
    const cut = await start(second, beyond);
    await staffOf(store).change("maya", ["staff.role", { role: "finance" }], by(opened.now));
    expect(await cut.goOn()).toMatchObject({ failure: expect.any(RightsEnded), run: { state: "failed", done: 0 } });
    expect(await endOf(store, SITA_TV, FAMILY)).toBe(END);
  });

  test("a portion that took longer than the deadline is not made", async () => {
    const { opened, store, deskFor, start } = await openBulk(makeDatabase);
    let asked = 0;
    const clock = () => opened.now + (asked++ > 1 ? RECORDING_DEADLINE_MS + 1 : 0);
    const { goOn } = await start({ connections: ["sita"] }, deskFor({ clock }));
    asked = 1;
    expect((await goOn()).failure).toBeInstanceOf(StoreUnavailable);
    expect(await endOf(store, SITA_NET, FIBER)).toBe(END);
  });
}
