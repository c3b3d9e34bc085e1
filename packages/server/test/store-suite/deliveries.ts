import { setTimeout } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { EVENTS_KEPT_MS, eventId } from "../../src/domain/event.ts";
import { LOG_KEPT_MS, type LoggedAttempt } from "../../src/domain/target.ts";
import { listEntries } from "../../src/office/audit/sql.ts";
import { listDeliveries, testTarget } from "../../src/office/targets/deliveries.ts";
import {
  addTarget,
  listFailedDeliveries,
  pauseTarget,
  removeTarget,
  resendToTarget,
} from "../../src/office/targets/operations.ts";
import { eventsAfter, lastEvent } from "../../src/store/events.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import { targetTools } from "../../src/targets/tools.ts";
import { startDelivering } from "../../src/workers/deliver-events.ts";
import { by } from "../support/by.ts";
import { OWN_NETWORKS, refusal, run } from "../support/desk.ts";
import { seededRandom } from "../support/random.ts";
import { staffOf } from "../support/staff.ts";
import { answerWith, type Delivery, startReceiver } from "../targets/receivers.ts";
import { countRows, type MakeDatabase } from "./database.ts";
import { type OpenedProvider, openProvider, RAM_TV, SITA_NET } from "./provider.ts";

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const REQUEST = JSON.stringify({ id: "evt" });

async function openWithTarget(makeDatabase: MakeDatabase, url = "http://127.0.0.1:9/", more: object = {}) {
  const opened = await openProvider(makeDatabase);
  const { target, secret } = await add(opened, "tv", url, more);
  const list = async () => (await run(opened.desk(), listDeliveries, { name: "tv" })).items;
  const seqs = async () => (await eventsAfter(opened.store.engine.db, 0, 100)).map(({ seq }) => seq);
  return { opened, target, secret: secret ?? "", list, seqs };
}

function add(opened: OpenedProvider, name: string, url: string, more: object = {}) {
  return run(opened.desk(), addTarget, { name, webhook: { url }, ...more });
}

function attemptAt(at: number, more: Partial<LoggedAttempt> = {}): LoggedAttempt {
  return {
    at,
    seq: 1,
    attempt: 1,
    request: REQUEST,
    status: 204,
    answer: "",
    problem: undefined,
    durationMs: 7,
    ...more,
  };
}

/** Saves progress up to the last event, as the delivering service does. */
async function save({ store, now }: OpenedProvider, targetId: number, logged: readonly LoggedAttempt[]) {
  const held = { lease: `target:${targetId}`, holder: "test" };
  const outbox = outboxOf(store.engine);
  await outbox.hold(held.lease, held.holder, now, now + 20_000);
  const place = await lastEvent(store.engine.db);
  expect(await outbox.saveProgress({ ...held, targetId, place, waiting: [], done: [], steps: [], logged })).toBe(true);
}

/** Delivers as the service does, but with shorter pauses. */
function deliver({ store }: OpenedProvider) {
  const random = seededRandom(3);
  const tools = targetTools({ clock: Date.now, random }, OWN_NETWORKS);
  return startDelivering({
    store: { outbox: outboxOf(store.engine), provider: store.provider },
    ...{ clock: Date.now, stopwatch: Date.now, random, holder: "test", log: () => {} },
    sleep: (ms, signal) => setTimeout(ms > 5_000 ? ms : 5, undefined, { signal }).catch(() => {}),
    createSender: (target) => tools.createSender(target, store),
  });
}

function idsAt({ deliveries }: Receiver) {
  return deliveries.map(({ headers }) => String(headers["webhook-id"]));
}

/** Staff see the last deliveries of a target, send one again, and send a test event. */
export function testDeliveries(makeDatabase: MakeDatabase): void {
  test("the last 50 attempts at a target are listed, newest first, with their event and without other targets", async () => {
    const { opened, target, list } = await openWithTarget(makeDatabase);
    await opened.topUp(SITA_NET, "NET-1M");
    const { now } = opened;
    const other = (await add(opened, "crm", "http://127.0.0.1:9/")).target;
    await save(opened, other.id, [attemptAt(now)]);
    const failed = { problem: "status 500", status: 500, answer: "try later" };
    for (const from of [0, 30])
      await save(
        opened,
        target.id,
        Array.from({ length: 30 }, (_, index) => attemptAt(now + from + index, { attempt: from + index, ...failed })),
      );
    const items = await list();
    expect(items.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 50 }, (_, index) => 59 - index));
    expect(items[0]).toEqual({
      ...{
        ...SITA_NET,
        partner: null,
        id: `evt_${now}_1`,
        kind: "topup.recorded",
        at: new Date(now + 59).toISOString(),
      },
      ...{ attempt: 59, durationMs: 7, request: REQUEST, ...failed },
    });
    const authority = await staffOf(opened.store).addKey("crm", "support", by(now));
    const desk = { ...opened.desk(), actor: { name: "key crm", authority } };
    expect((await run(desk, listDeliveries, { name: "tv" })).items).toEqual(
      items.map((item) => ({ ...item, request: null, answer: null })),
    );
    expect(await countRows(opened, "delivery_log")).toBe(51);
    await run(opened.desk(), removeTarget, { name: "tv" });
    expect(await countRows(opened, "delivery_log")).toBe(1);
  });

  test("long texts are cut, and texts that a database refuses are stored", async () => {
    const { opened, target, list } = await openWithTarget(makeDatabase);
    await opened.topUp(SITA_NET, "NET-1M");
    const answer = "\0\ud800 binary";
    await save(opened, target.id, [attemptAt(opened.now, { request: "é".repeat(9_000), answer })]);
    const [item] = await list();
    expect(item?.request).toBe(`${"é".repeat(4_095)}…`);
    expect(item?.answer).toBe("\ufffd\ufffd binary");
  });

  test("attempts are kept for 7 days, and their events as long, but at most 30 days", async () => {
    const { opened, target, list, seqs } = await openWithTarget(makeDatabase);
    for (let count = 0; count < 4; count += 1) await opened.topUp(SITA_NET, "NET-1M");
    const { now } = opened;
    await save(opened, target.id, [
      attemptAt(now, { seq: 2 }),
      attemptAt(now + 1, { seq: 3 }),
      attemptAt(now, { seq: 0 }),
    ]);
    const { forget } = outboxOf(opened.store.engine);
    const numbers = async () => (await list()).map(({ id }) => Number(id.split("_")[2]));
    expect([await forget(now + LOG_KEPT_MS), await numbers(), await seqs()]).toEqual([1, [3, 2, 0], [2, 3, 4]]);
    expect([await forget(now + LOG_KEPT_MS + 1), await numbers(), await seqs()]).toEqual([1, [3], [3, 4]]);
    opened.now += EVENTS_KEPT_MS;
    await save(opened, target.id, [attemptAt(opened.now, { seq: 3 })]);
    expect([await forget(opened.now + 1), await numbers(), await seqs()]).toEqual([1, [], [4]]);
  });

  test("one delivered event is sent again once, only to its target, and is on record", async () => {
    const [tv, crm] = [await startReceiver(), await startReceiver()];
    const { opened, list } = await openWithTarget(makeDatabase, tv.url);
    await add(opened, "crm", crm.url);
    await opened.topUp(SITA_NET, "NET-1M");
    await opened.topUp(RAM_TV, "TV-1M");
    const ids = [1, 2].map((seq) => eventId({ seq, at: opened.now }));
    const worker = deliver(opened);
    try {
      await expect.poll(async () => (await list()).length).toBe(2);
      await expect.poll(() => crm.deliveries.length).toBe(2);
      const event = ids[0] ?? "";
      expect(await run(opened.desk(), resendToTarget, { name: "tv", event })).toEqual({ resent: 1 });
      await expect.poll(async () => (await list()).length).toBe(3);
      await expect.poll(() => countRows(opened, "delivery")).toBe(0);
    } finally {
      await worker.stop();
    }
    expect([idsAt(tv).sort(), idsAt(crm).sort()]).toEqual([[ids[0], ids[0], ids[1]], ids]);
    expect((await list())[0]).toMatchObject({
      id: ids[0],
      attempt: 1,
      status: 204,
      request: tv.deliveries.at(-1)?.body,
    });
    expect(JSON.stringify(await list())).not.toMatch(/whsec_|v1,|letmein/);
    const [entry] = await listEntries(opened.store.engine.db, { subject: "tv" }, 1);
    expect([entry?.action, JSON.parse(entry?.after ?? "")]).toEqual(["target.resend", { resent: 1, event: ids[0] }]);
  });

  test("an event is not sent again out of order: neither a replaced one, except to billing, nor one that is due", async () => {
    const { opened, target } = await openWithTarget(makeDatabase);
    const billing = await add(opened, "billing", "http://127.0.0.1:9/", { billing: true });
    await run(opened.desk(), addTarget, { name: "crm" });
    await opened.topUp(SITA_NET, "NET-1M");
    await opened.topUp(SITA_NET, "NET-1M");
    for (const { id } of [target, billing.target]) await save(opened, id, []);
    await opened.topUp(RAM_TV, "TV-1M");
    const [first = "", second = "", third = "", fourth = ""] = [1, 2, 3, 4].map((seq) =>
      eventId({ seq, at: opened.now }),
    );
    const resend = (name: string, event: string) => run(opened.desk(), resendToTarget, { name, event });
    const refused = async (name: string, event: string) => (await refusal(resend(name, event))).words;
    expect(await refused("tv", first)).toBe(`a later event of this connection replaces ${first}: send ${second} again`);
    expect(await refused("tv", third)).toBe(`${third} was not sent yet, and comes in order`);
    for (const unknown of [fourth, "1", `evt_${opened.now - 1}_1`, eventId({ seq: 0, at: opened.now })])
      expect(await refused("tv", unknown)).toBe(
        `the event ${unknown} does not exist, or was deleted: see the deliveries of tv`,
      );
    expect(await refused("crm", first)).toBe("crm is a feed: it reads its events itself");
    expect(await countRows(opened, "delivery")).toBe(0);
    for (const [name, event] of [
      ["tv", second],
      ["billing", first],
    ] as const)
      expect(await resend(name, event)).toEqual({ resent: 1 });
    expect((await run(opened.desk(), listFailedDeliveries, { name: "billing" })).items).toMatchObject([
      { id: first, attempts: 0, setAside: false, problem: null },
    ]);
  });

  test("a test event is signed, has no place among the events, and is logged, also for a paused webhook", async () => {
    const receiver = await startReceiver((response) => response.writeHead(200).end("hello"));
    const { opened, secret, list, seqs } = await openWithTarget(makeDatabase, receiver.url);
    opened.now = Date.now();
    await run(opened.desk(), pauseTarget, { name: "tv", paused: true });
    const outcome = { status: 200, durationMs: 0, problem: null, answer: "hello" };
    expect(await run(opened.desk(), testTarget, { name: "tv" })).toEqual(outcome);
    const [{ body, headers }] = receiver.deliveries as [Delivery];
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      ...{ id: `evt_${opened.now}_0`, type: "test" },
      data: { environment: "trial", cuid: "test", connection: { service: "internet", reqId: "test" } },
    });
    const at = new Date(opened.now).toISOString();
    expect(await list()).toMatchObject([{ ...outcome, at, id: `evt_${opened.now}_0`, kind: "test", request: body }]);
    expect([await seqs(), await countRows(opened, "delivery"), receiver.deliveries.length]).toEqual([[], 0, 1]);
  });

  test("a test event that fails says why, and is not retried", async () => {
    const receiver = await startReceiver(answerWith(410));
    const { opened, list } = await openWithTarget(makeDatabase, receiver.url);
    const desk = opened.desk();
    const ill = { status: 410, problem: "status 410", answer: "" };
    expect(await run(desk, testTarget, { name: "tv" })).toMatchObject(ill);
    await receiver.close();
    opened.now += 1;
    const away = { status: null, problem: "connection refused", answer: null };
    expect(await run(desk, testTarget, { name: "tv" })).toMatchObject(away);
    expect(await list()).toMatchObject([away, ill]);
    expect(await countRows(opened, "delivery")).toBe(0);
    await run(desk, addTarget, { name: "crm" });
    expect(await refusal(run(desk, testTarget, { name: "crm" }))).toMatchObject({
      ...{ code: "conflict", words: "crm is no webhook, and gets no test event" },
    });
  });
}
