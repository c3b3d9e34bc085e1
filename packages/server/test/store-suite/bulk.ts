import { expect, test } from "vitest";
import { RECORDING_DEADLINE_MS } from "../../src/domain/top-up.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { correctRun } from "../../src/office/bulk/correct.ts";
import { keepBulk } from "../../src/office/bulk/keep.ts";
import {
  cancelBulk,
  continueBulk,
  exportBulkLines,
  listBulk,
  listBulkLines,
  pauseBulk,
  showBulk,
  startBulk,
} from "../../src/office/bulk/operations.ts";
import { PORTION } from "../../src/office/bulk/plan.ts";
import { previewBulk, previewReversal, showPlans, showSegments } from "../../src/office/bulk/preview.ts";
import { reverseGoodwill } from "../../src/office/corrections/operations.ts";
import type { Desk } from "../../src/office/office.ts";
import { endSession, openSession } from "../../src/office/session/sql.ts";
import { addTarget } from "../../src/office/targets/operations.ts";
import type { Engine } from "../../src/store/engine.ts";
import { StoreUnavailable } from "../../src/store/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { by } from "../support/by.ts";
import { deskOf, listOf, refusal, run } from "../support/desk.ts";
import { moveHorizon } from "../support/history.ts";
import { STORED_PASSWORD, staffOf } from "../support/staff.ts";
import { plain } from "./customers.ts";
import { countRows, findWrong, type MakeDatabase } from "./database.ts";
import {
  endOf,
  FAMILY,
  FIBER,
  HARI_TV,
  importRows,
  openProvider,
  RAM_NET,
  SITA,
  SITA_NET,
  SITA_TV,
} from "./provider.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const GOODWILL = { action: "goodwill", days: 3, reason: "outage" } as const;
const [END, LATER] = ["2026-12-10 09:00:00", "2026-12-13 09:00:00"];

/** @param many customers `m0`, `m1` ... with one connection each. */
async function openBulk(makeDatabase: MakeDatabase, many = 0) {
  const opened = await openProvider(makeDatabase, { defaultCountry: "NP" });
  const { store } = opened;
  const names = Array.from({ length: many }, (_, index) => `m${index}`);
  const { subscriptions } = SITA.connections.internet[0] as { readonly subscriptions: readonly object[] };
  const rows = names.map((username) =>
    plain(username, { connections: { internet: [{ username, status: "active", subscriptions }] } }),
  );
  for (let from = 0; from < many; from += 100) await importRows(store, opened.now, ...rows.slice(from, from + 100));
  const waiting: ((ending: AbortSignal) => Promise<void>)[] = [];
  /** Work of a desk continues when the test says so. */
  const deskFor = ({
    store: own = store,
    clock = () => opened.now,
    actor = { name: "tester" },
    ...more
  }: Partial<Desk>) => deskOf({ store: own, clock }, actor, { goOn: async (work) => void waiting.push(work), ...more });
  const desk = deskFor({});
  const goOn = async (ending = new AbortController().signal) => {
    const failure = await waiting
      .shift()?.(ending)
      .catch((error: unknown) => error);
    return failure as Error | undefined;
  };
  const preview = async (lines: readonly string[], input: object = {}, at = desk) => {
    const { id } = await run(at, previewBulk, { ...GOODWILL, ...input, file: listOf(lines) });
    await waiting.pop()?.(new AbortController().signal);
    return run(at, showBulk, { id });
  };
  const start = async (lines: readonly string[], input: object = {}, at = desk) => {
    const { id } = await preview(lines, input, at);
    return run(at, startBulk, { id });
  };
  const show = (id: number) => run(desk, showBulk, { id });
  const effectsOf = async (id: number) => (await run(desk, listBulkLines, { id, limit: 500 })).items;
  const problemsOf = async (id: number) => {
    const { items } = await run(desk, listBulkLines, { id, problems: true, limit: 500 });
    return items.map(({ line, text, problem }) => [line, text, problem]);
  };
  /** Days of goodwill that each customer `m0`, `m1` ... got. */
  const daysGiven = async () => {
    const ledgers = await store.engine.readLedgers(store.engine.db, "production", names);
    return names.map((name) => {
      const entries = ledgers.filter(({ cuid }) => cuid === name).flatMap((ledger) => ledger.entries);
      return entries.reduce((days, entry) => days + (entry.kind === "goodwill" ? entry.period.days : 0), 0);
    });
  };
  const work = { goOn, preview, start, show, effectsOf, problemsOf, daysGiven };
  return { opened, store, names, desk, deskFor, waiting, ...work };
}

/** A store whose process is killed at a transaction, counted from 1: before its commit or after. */
function killedAt(store: Store, at: number, when: "before" | "after"): Store {
  let count = 0;
  const killed = new Error("killed");
  const transact: Engine["transact"] = async (work) => {
    count += 1;
    if (count > at) throw new StoreUnavailable("gone");
    if (count < at) return store.engine.transact(work);
    if (when === "after") await store.engine.transact(work);
    else
      await store.engine
        .transact(async (tx) => {
          await work(tx);
          throw killed;
        })
        .catch((error: unknown) => expect(error).toBe(killed));
    throw new StoreUnavailable("gone");
  };
  return { ...store, engine: { ...store.engine, transact } };
}

/** The domain decides for each connection. These tests show which connections are chosen, and that all is written once. */
export function testBulk(makeDatabase: MakeDatabase): void {
  test("lines name connections, each once; an unclear one has its number and reason, and nothing is guessed", async () => {
    const { opened, preview, effectsOf, problemsOf, store } = await openBulk(makeDatabase);
    const alike = { tv: [{ stb: "six", status: "active" }], iptv: [{ username: "six", status: "active" }] };
    const ownCode = {
      mobile: "9800000107",
      connections: {
        internet: [{ username: "9800000107" }, { username: "b" }].map((own) => ({ ...own, status: "active" })),
      },
    };
    await importRows(store, opened.now, plain("6", { connections: alike }), plain("7", ownCode));
    const tv = ["2000001", "tv", SITA_TV.reqId];
    const good = ["sita", "  sita ", "2000001 internet sita\r", tv.join(","), tv.join("\t"), ""];
    const bad = ["six", "nobody", "9 internet sita", "2 dsl net-2", "gita", "nul\0", "9800000107", "x".repeat(1_001)];
    const found = await preview([...good, ...bad, "segment moon"]);
    expect(found).toMatchObject({ state: "checked", lines: 15, count: 2, duplicates: 3, problems: 9, done: 0 });
    expect(await effectsOf(found.id)).toMatchObject([
      { line: 1, service: "internet", plan: FIBER, before: { end: END }, after: { end: LATER }, repeated: false },
      { line: 4, cuid: "2000001", service: "tv", plan: FAMILY, whole: null, outcome: "open" },
    ]);
    expect(await problemsOf(found.id)).toEqual([
      [7, "six", expect.stringMatching(/^several connections fit: 6 (ip)?tv six; 6 (ip)?tv six$/)],
      [8, "nobody", "no production customer has the code nobody"],
      [9, "9 internet sita", "there is no internet connection sita of customer 9"],
      [10, "2 dsl net-2", "no production customer has the code 2 dsl net-2"],
      [11, "gita", "there is no base subscription to give days to: it has none"],
      [12, "nul", "no production customer has the code nul"],
      [...[13, "9800000107"], "a connection and its customer have this code: write 7 internet 9800000107, or 7"],
      [14, "", "is longer than 1000 bytes"],
      [15, "segment moon", "no production connection has the segment moon"],
    ]);
  });

  test("ids that a spreadsheet marked as text are read, and those that a program changed are named", async () => {
    const { preview, effectsOf, problemsOf } = await openBulk(makeDatabase);
    const good = [`2000001 tv '${SITA_TV.reqId}`, `="2000001",internet,sita`];
    const { id } = await preview([...good, "NULL", "2000001 tv 12403.0", "#N/A tv 7", "2e5"]);
    expect(await effectsOf(id)).toMatchObject([
      { line: 1, cuid: "2000001", service: "tv" },
      { line: 2, cuid: "2000001", service: "internet" },
    ]);
    const changed = "a number that a spreadsheet or another program has changed: make the column text there";
    expect(await problemsOf(id)).toEqual([
      [3, "NULL", 'the id is "NULL", which programs write for no value'],
      [4, "2000001 tv 12403.0", `the id is "12403.0", ${changed}`],
      [5, "#N/A tv 7", 'the id is "#N/A", which programs write for no value'],
      [6, "2e5", `the id is "2e5", ${changed}`],
    ]);
  });

  test("a mobile number in any form or a customer id means all connections, and a segment means its own", async () => {
    const { opened, preview, effectsOf, problemsOf, store, desk } = await openBulk(makeDatabase);
    const patan = { area: "Patan", connections: { iptv: [{ username: "nine", status: "active" }] } };
    await importRows(store, opened.now, plain("8", { mobile: "9800000102" }), plain("9", { mobile: "9800000109" }));
    await importRows(store, opened.now, plain("7", patan));
    const block = { action: "block", days: undefined };
    const lines = ["+977 980-0000101", "sita", "2000004", "9800000102", "9", "segment sd"];
    const { id, count } = await preview(lines, block);
    expect(count).toBe(4);
    const sita = {
      line: 1,
      text: lines[0],
      whole: 3,
      cuid: "2000001",
      customer: { firstName: "Sita", lastName: "Rai" },
    };
    expect(await effectsOf(id)).toMatchObject([
      { ...sita, service: "tv" },
      { ...sita, service: "internet" },
      { ...sita, service: "iptv" },
      { line: 3, whole: 1, cuid: "2000004", service: "tv" },
    ]);
    expect(await problemsOf(id)).toEqual([
      [4, "9800000102", "several customers have this code: 2000002, 8"],
      [5, "9", "customer 9 has no connection"],
    ]);
    const all = await preview(["segment sd"], block);
    expect(await effectsOf(all.id)).toMatchObject([{ service: "tv", whole: 1, text: "segment sd" }]);
    const area = await preview(["area Patan", "area Moon"], block);
    expect(await effectsOf(area.id)).toMatchObject([{ cuid: "7", service: "iptv", whole: 1, text: "area Patan" }]);
    expect(await problemsOf(area.id)).toEqual([[2, "area Moon", "no production connection has the area Moon"]]);
    expect(await run(desk, showSegments, {})).toEqual({ items: [{ segment: "sd", connections: 1 }] });
    expect(await run(desk, showSegments, { environment: "trial" })).toEqual({ items: [] });
  });

  test("a list has no upper limit: 25,000 lines are read in portions, each with its number", async () => {
    const { names, preview, problemsOf, effectsOf } = await openBulk(makeDatabase, 3);
    const lines = Array.from({ length: 25_000 }, (_, index) =>
      index % 10 === 0 ? (names[index % 3] as string) : "m0 internet m0",
    );
    lines[24_998] = "nobody";
    const { id, ...found } = await preview(lines);
    expect(found).toMatchObject({ state: "checked", lines: 25_000, count: 3, problems: 1 });
    expect(await problemsOf(id)).toEqual([[24_999, "nobody", "no production customer has the code nobody"]]);
    expect((await effectsOf(id)).map(({ line, cuid }) => [line, cuid])).toEqual([
      [1, "m0"],
      [11, "m1"],
      [21, "m2"],
    ]);
  });

  test("each portion is corrected by itself, and the audit trail names its connections", async () => {
    const { opened, store, names, desk, start, goOn, show, problemsOf } = await openBulk(makeDatabase, PORTION + 1);
    const { id, ...started } = await start([...names, "nobody"]);
    expect(started).toMatchObject({ state: "running", done: 0, count: PORTION + 1, author: "tester" });
    expect(await endOf(store, { ...SITA_NET, cuid: "m200", reqId: "m200" }, FIBER)).toBe(END);
    opened.now += MINUTE_MS;
    expect(await goOn()).toBeUndefined();
    expect(await show(id)).toMatchObject({ state: "done", done: PORTION + 1, problems: 1, problem: null });
    expect(await problemsOf(id)).toEqual([[PORTION + 2, "nobody", "no production customer has the code nobody"]]);
    expect(await endOf(store, { ...SITA_NET, cuid: "m200", reqId: "m200" }, FIBER)).toBe(LATER);
    const [ledger] = await store.engine.readLedgers(store.engine.db, "production", ["m0"]);
    const entry = { kind: "goodwill", reason: "outage", author: "tester", at: { instant: opened.now } };
    expect(ledger?.entries.at(-1)).toMatchObject(entry);
    const [corrected, begun] = await listEntries(store.engine.db, {}, 2);
    expect(corrected).toMatchObject({
      action: "bulk.goodwill",
      subject: "production",
      reason: `bulk ${id}: outage`,
      parts: 2,
    });
    expect(JSON.parse(corrected?.after ?? "")).toEqual({ m200: { "internet m200": { days: 3 } } });
    expect(begun).toMatchObject({ action: "bulk.start", subject: String(id), parts: 1 });
    expect(await listEntries(store.engine.db, { cuid: "m7" }, 9)).toMatchObject([{ action: "bulk.goodwill" }, {}]);
    const pages = [];
    for await (const page of await run(desk, exportBulkLines, { id })) pages.push(...page);
    expect(pages.map(({ outcome }) => outcome)).toEqual([...names.map(() => "corrected"), "left_out"]);
    expect((await run(desk, listBulk, {})).items).toMatchObject([{ id, state: "done" }]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("it does what each correction would do by itself, and sends events", async () => {
    const { opened, store, desk, start, goOn, show, preview, problemsOf } = await openBulk(makeDatabase);
    await run(opened.desk(), addTarget, { name: "billing", billing: true });
    const { id } = await start(["sita", SITA_TV.reqId]);
    // One connection is deleted between preview and correction.
    await opened.restate({ ...SITA, connections: { internet: SITA.connections.internet } });
    await goOn();
    expect(await show(id)).toMatchObject({ state: "done", done: 2, problems: 1 });
    const problem = `there is no tv connection ${SITA_TV.reqId} of customer 2000001`;
    expect(await problemsOf(id)).toEqual([[2, SITA_TV.reqId, problem]]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe(LATER);
    const block = { action: "block", days: undefined };
    const lines = ["sita", HARI_TV.reqId];
    await start(lines, block);
    await goOn();
    expect((await store.findConnection(SITA_NET))?.connection?.blocked).toBe(true);
    const again = await preview(lines, block);
    expect((await problemsOf(again.id)).map(([, , why]) => why)).toEqual(["is blocked already", "is blocked already"]);
    expect(await refusal(run(desk, startBulk, { id: again.id }))).toMatchObject({ code: "conflict" });
    const events = await opened.database.read("SELECT kind, req_id FROM event ORDER BY seq");
    expect(events.map(({ kind, req_id }) => [kind, req_id])).toEqual([
      ["subscription.changed", SITA_TV.reqId],
      ["subscription.changed", "sita"],
      ["connection.blocked", "sita"],
    ]);
    expect(await findWrong(store)).toEqual([]);
  });

  test("goodwill goes to plans that run, or that ran at a stated time and start again; others have their reason", async () => {
    const { store, desk, preview, effectsOf, problemsOf, goOn, show } = await openBulk(makeDatabase);
    const now = await preview(["sita", "ram", "sita"]);
    expect(now).toMatchObject({ count: 1, startsAgain: 0, duplicates: 1, problems: 1, runningAt: null });
    expect(await problemsOf(now.id)).toEqual([[2, "ram", "no base subscription runs"]]);
    const named = await preview(["ram"], { plan: FIBER });
    expect(await problemsOf(named.id)).toEqual([[1, "ram", `no subscription of the plan ${FIBER} runs`]]);
    const before = await preview(["sita", "ram"], { runningAt: "2026-11-01" });
    expect(before).toMatchObject({ count: 1, startsAgain: 1, problems: 1, runningAt: "2026-11-01" });
    expect(await preview(["ram"], { runningAt: "2026-11-01 08:59" })).toMatchObject({ count: 1, startsAgain: 1 });
    const ENDED = "2026-11-01 09:00:00";
    expect(await effectsOf(before.id)).toMatchObject([
      { text: "ram", startsAgain: true, before: { end: ENDED }, after: { end: "2026-11-23 09:00:00" } },
    ]);
    expect(await problemsOf(before.id)).toEqual([[1, "sita", "no base subscription ran at 2026-11-01"]]);
    expect(await preview(["ram"], { runningAt: ENDED })).toMatchObject({ count: 0, problems: 1 });
    for (const runningAt of ["2026-11-21", "2026-11-20 09:00:01", "yesterday", "2026-11-31"])
      expect(await refusal(preview(["ram"], { runningAt }))).toMatchObject({ problems: [{ field: "runningAt" }] });
    await run(desk, startBulk, { id: before.id });
    await goOn();
    expect(await show(before.id)).toMatchObject({ state: "done", done: 1 });
    expect(await endOf(store, RAM_NET, FIBER)).toBe("2026-11-23 09:00:00");
    expect((await run(desk, showPlans, {})).items).toEqual([
      { plan: FAMILY, running: 1 },
      { plan: FIBER, running: 2 },
    ]);
  });

  test("a plan that ends before its portion gets no goodwill", async () => {
    const { opened, store, start, goOn, show, problemsOf } = await openBulk(makeDatabase);
    const { id } = await start(["sita"]);
    opened.now = Date.parse("2026-12-10T09:00:00Z");
    await goOn();
    expect(await show(id)).toMatchObject({ state: "done", problems: 1 });
    expect(await problemsOf(id)).toEqual([[1, "sita", "no base subscription runs"]]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe(END);
  });

  test("the reversal of a bulk change reverses all of its goodwill, and nothing else", async () => {
    const { opened, store, names, desk, waiting, start, goOn, show, effectsOf, problemsOf } = await openBulk(
      makeDatabase,
      PORTION + 1,
    );
    await run(opened.desk(), addTarget, { name: "billing", billing: true });
    const { id: given } = await start([...names, "nobody"]);
    const reverse = async () => {
      const { id } = await run(desk, previewReversal, { id: given, reason: "wrong list" });
      await waiting.pop()?.(new AbortController().signal);
      return show(id);
    };
    expect(await refusal(reverse())).toMatchObject({
      words: "only goodwill can be reversed, once it is over: this goodwill is running",
    });
    await goOn();
    opened.now += MINUTE_MS;
    const [m0, m1] = ["m0", "m1"].map((cuid) => ({ ...SITA_NET, cuid, reqId: cuid }));
    await run(opened.desk(), reverseGoodwill, { ...(m0 as typeof SITA_NET), reason: "typo" });
    await opened.grant(m1 as typeof SITA_NET, 5);
    // A customer may have left the records meanwhile.
    await opened.restate(plain("m2", { connections: {} }));
    const preview = await reverse();
    expect(preview).toMatchObject({
      ...{ state: "checked", action: "reverse_goodwill", reverses: given, count: PORTION, problems: 1, days: null },
      ...{ startsAgain: 0, repeated: 0, reason: "wrong list" },
    });
    expect((await effectsOf(preview.id))[0]).toMatchObject({
      ...{ line: 2, text: "m1", plan: FIBER, entry: 2, outcome: "open" },
      ...{ before: { end: "2026-12-18 09:00:00" }, after: { end: "2026-12-15 09:00:00" } },
    });
    const none = "there is no goodwill that is not reversed yet: topupd why shows the entries";
    expect(await problemsOf(preview.id)).toEqual([[1, "m0", none]]);
    await run(desk, startBulk, { id: preview.id });
    await goOn();
    expect(await show(preview.id)).toMatchObject({ state: "done", done: PORTION, problems: 1 });
    expect(await endOf(store, m1 as typeof SITA_NET, FIBER)).toBe("2026-12-15 09:00:00");
    expect(await endOf(store, { ...SITA_NET, cuid: "m200", reqId: "m200" }, FIBER)).toBe(END);
    const [entry] = await listEntries(store.engine.db, {}, 1);
    expect(entry).toMatchObject({ action: "bulk.reverse_goodwill", reason: `bulk ${preview.id}: wrong list` });
    expect(JSON.parse(entry?.after ?? "")).toMatchObject({ m200: { "internet m200": { reverses: given } } });
    expect(await listEntries(store.engine.db, { cuid: "m200" }, 1)).toMatchObject([
      { action: "bulk.reverse_goodwill" },
    ]);
    const told = "event WHERE kind = 'subscription.changed' AND req_id = 'm200'";
    expect(await countRows(opened, told)).toBe(2);
    expect(await reverse()).toMatchObject({ count: 0, problems: PORTION + 1 });
    const again = run(desk, previewReversal, { id: preview.id, reason: "oops" });
    expect(await refusal(again)).toMatchObject({
      words: "only goodwill can be reversed, once it is over: this reverse_goodwill is done",
    });
    expect(await findWrong(store)).toEqual([]);
  });

  test("goodwill of the last day is counted and listed", async () => {
    const { opened, preview, start, goOn, effectsOf } = await openBulk(makeDatabase);
    await start(["sita"]);
    await goOn();
    opened.now += DAY_MS - 1;
    const { id, repeated } = await preview(["sita", SITA_TV.reqId]);
    expect(repeated).toBe(1);
    expect((await effectsOf(id)).map((effect) => effect.repeated)).toEqual([true, false]);
    opened.now += 1;
    expect((await preview(["sita"])).repeated).toBe(0);
  });

  test("goodwill that another gave since the preview is not given twice", async () => {
    const { opened, store, desk, preview, goOn, show, problemsOf } = await openBulk(makeDatabase);
    const [first, second] = [await preview(["sita"]), await preview(["2000001"])].map(({ id }) => id as number);
    opened.now += 1;
    for (const id of [first, second]) {
      await run(desk, startBulk, { id: id as number });
      await goOn();
    }
    expect(await show(second as number)).toMatchObject({ state: "done", count: 2, done: 2, problems: 2 });
    const problem = "was given goodwill since the preview";
    expect(await problemsOf(second as number)).toContainEqual([1, "2000001", problem]);
    expect(await endOf(store, SITA_NET, FIBER)).toBe(LATER);
  });

  test("it pauses after its portion and continues; if it is cancelled, corrections that were made stay", async () => {
    const { names, desk, deskFor, waiting, start, goOn, show, daysGiven } = await openBulk(
      makeDatabase,
      2 * PORTION + 1,
    );
    const { id } = await start(names);
    const step = (operation: typeof pauseBulk) => run(desk, operation, { id });
    const work = waiting.shift();
    const pausing = deskFor({ sleep: async () => void (await step(pauseBulk)) });
    await correctRun(pausing, id, new AbortController().signal);
    await work?.(new AbortController().signal);
    expect(await show(id)).toMatchObject({ state: "paused", done: PORTION });
    expect(await refusal(step(pauseBulk))).toMatchObject({ words: "this bulk change is paused" });
    waiting.splice(0);
    expect(await step(continueBulk)).toMatchObject({ state: "running" });
    await correctRun(deskFor({ sleep: async () => void (await step(cancelBulk)) }), id, new AbortController().signal);
    expect(await goOn()).toBeUndefined();
    expect(await show(id)).toMatchObject({ state: "cancelled", done: 2 * PORTION });
    expect((await daysGiven()).filter((days) => days === 3)).toHaveLength(2 * PORTION);
    for (const operation of [startBulk, pauseBulk, continueBulk, cancelBulk])
      expect(await refusal(step(operation))).toMatchObject({ code: "conflict" });
    expect(await refusal(run(desk, cancelBulk, { id: 99 }))).toMatchObject({ code: "not_found" });
  });

  test("it continues after its author's log-in has ended, and not without the author's role", async () => {
    const { opened, store, desk, deskFor, start, goOn, show, waiting } = await openBulk(makeDatabase);
    const member = await staffOf(store).add("maya", "support", by(opened.now));
    const times = { createdAt: opened.now, lastUsedAt: opened.now };
    const session = { id: "s", ...times, address: undefined, userAgent: undefined, authenticatedAt: undefined };
    await openSession(store.engine, Buffer.from("s"), member.id, STORED_PASSWORD, session);
    const authority = { staffId: member.id, role: "support", sessionId: "s" } as const;
    const maya = deskFor({ actor: { name: "maya", authority } });
    const [first, second] = [await start(["sita"], {}, maya), await start([SITA_TV.reqId], {}, maya)].map(
      ({ id }) => id,
    );
    await endSession(store.engine, member.id, "s");
    expect(waiting).toHaveLength(2);
    expect(await goOn()).toBeUndefined();
    expect(await show(first as number)).toMatchObject({ state: "done" });
    await staffOf(store).change("maya", ["staff.role", { role: "finance" }], by(opened.now));
    expect(await goOn()).toBeUndefined();
    const problem = "the log-in or the key has ended, or the role has changed";
    expect(await show(second as number)).toMatchObject({ state: "failed", done: 0, problem });
    expect(await endOf(store, SITA_TV, FAMILY)).toBe(END);
    // Another person takes over.
    expect(await run(desk, continueBulk, { id: second as number })).toMatchObject({ author: "tester", problem: null });
    await goOn();
    expect(await endOf(store, SITA_TV, FAMILY)).not.toBe(END);
  });

  test("a portion that took longer than the deadline is not made", async () => {
    const { opened, store, deskFor, start, show } = await openBulk(makeDatabase);
    const { id } = await start(["sita"]);
    let asked = 0;
    const clock = () => opened.now + (asked++ > 0 ? RECORDING_DEADLINE_MS + 1 : 0);
    const desk = deskFor({ clock });
    asked = 0;
    const slow = correctRun(desk, id, new AbortController().signal);
    await expect(slow).rejects.toThrow(StoreUnavailable);
    expect(await endOf(store, SITA_NET, FIBER)).toBe(END);
    expect(await show(id)).toMatchObject({ state: "running", done: 0 });
  });
}

/** What happens at once. */
export function testBulkAtOnce(makeDatabase: MakeDatabase): void {
  test.each(["before", "after"] as const)(
    "a process killed %s a commit: another continues, and corrects nothing twice",
    async (when) => {
      const { opened, store, names, desk, deskFor, waiting, start, goOn, show, daysGiven } = await openBulk(
        makeDatabase,
        2 * PORTION + 50,
      );
      const { id } = await start(names);
      waiting.splice(0);
      const ending = new AbortController();
      const run1 = correctRun(deskFor({ store: killedAt(store, 2, when) }), id, ending.signal);
      await expect(run1).rejects.toThrow(StoreUnavailable);
      expect(await show(id)).toMatchObject({ state: "running", done: when === "before" ? PORTION : 2 * PORTION });
      const other = await opened.another();
      const keep = async () => {
        const once = new AbortController();
        const ports = { ...deskFor({ store: other }), log() {}, sleep: async () => once.abort() };
        await keepBulk(ports, once.signal);
      };
      await keep();
      expect(waiting).toHaveLength(0);
      opened.now += 10_001;
      await keep();
      expect(await goOn()).toBeUndefined();
      expect(await show(id)).toMatchObject({ state: "done", done: names.length, problems: 0 });
      expect(new Set(await daysGiven())).toEqual(new Set([3]));
      expect(await findWrong(desk.store)).toEqual([]);
    },
  );

  test("two processes correct a run at once: each connection once", async () => {
    const { opened, store, names, deskFor, start, show, daysGiven } = await openBulk(makeDatabase, PORTION + 50);
    const { id } = await start(names);
    const { signal } = new AbortController();
    const others = [store, await opened.another(), await opened.another()];
    await Promise.all(others.map((own) => correctRun(deskFor({ store: own }), id, signal)));
    expect(await show(id)).toMatchObject({ state: "done", done: names.length, problems: 0 });
    expect(new Set(await daysGiven())).toEqual(new Set([3]));
  });

  test("only its author can start a preview, once, and within an hour", async () => {
    const { opened, store, desk, deskFor, preview, goOn, show, start } = await openBulk(makeDatabase);
    const { id } = await preview(["sita"]);
    const other = deskFor({ actor: { name: "maya" } });
    expect(await refusal(run(other, startBulk, { id }))).toMatchObject({
      words: "this is the preview of tester: make your own",
    });
    const [first, second] = await Promise.allSettled([run(desk, startBulk, { id }), run(desk, startBulk, { id })]);
    expect(new Set([first.status, second.status])).toEqual(new Set(["fulfilled", "rejected"]));
    await goOn();
    const late = await preview([SITA_TV.reqId, "nobody"]);
    opened.now += 60 * MINUTE_MS + 1;
    const keep = async () => {
      const once = new AbortController();
      let naps = 0;
      const sleep = async () => {
        naps += 1;
        if (naps > 2) once.abort();
      };
      await keepBulk({ ...desk, sleep, log() {} }, once.signal);
    };
    await keep();
    expect(await show(late.id)).toMatchObject({ state: "cancelled" });
    expect(await refusal(run(desk, startBulk, { id: late.id }))).toMatchObject({ code: "conflict" });
    // The lines of a started run stay.
    expect(await countRows(opened, "bulk_line")).toBe(1);
    const nothing = await preview(["nobody"]);
    expect(await refusal(run(desk, startBulk, { id: nothing.id }))).toMatchObject({ code: "conflict" });
    expect(await refusal(start(["sita"], { days: undefined }))).toMatchObject({ problems: [{ field: "days" }] });
    expect(await endOf(store, SITA_TV, FAMILY)).toBe(END);
    // Its lines are deleted with the history of its time.
    await moveHorizon(opened, opened.now - MINUTE_MS);
    await keep();
    expect(await countRows(opened, "bulk_line")).toBe(1);
    opened.now += 60 * MINUTE_MS + 1;
    await keep();
    expect(await countRows(opened, "bulk_line")).toBe(0);
  });
}
