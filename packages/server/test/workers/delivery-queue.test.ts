import { describe, expect, test } from "vitest";
import type { ConnectionEvent, Recorded } from "../../src/domain/event.ts";
import type { WaitingDelivery } from "../../src/domain/target.ts";
import { DAY_MS, type Instant } from "../../src/domain/wall-time.ts";
import { DeliveryQueue } from "../../src/workers/delivery-queue.ts";
import type { Attempt } from "../../src/workers/queued-connection.ts";
import { START } from "../support/delivery-scene.ts";
import { keyOf } from "../support/memory-outbox.ts";
import { alertEvent } from "../targets/receivers.ts";

const MINUTE_MS = 60_000;
const STEP_MS = 250;

function eventOf(seq: number, cuid = `c${seq}`): Recorded<ConnectionEvent> {
  const state = { blocked: false, subscriptions: [] };
  const nothing = { topUp: undefined, partner: undefined };
  return { seq, kind: "topup.recorded", at: START, key: keyOf(cuid), state, ...nothing };
}

/** A queue, the events that there are, and a target that answers without any time passing. */
function scene(billing = false) {
  const rows = new Map<number, WaitingDelivery>();
  const events: Recorded<ConnectionEvent>[] = [];
  const tried: { readonly seq: number; readonly seconds: number }[] = [];
  const all = {
    queue: new DeliveryQueue(billing, { place: 0, waiting: [] }, () => 0.5),
    now: START,
    place: 0,
    ...{ rows, events, tried },
    takes: (_event: Recorded<ConnectionEvent>): boolean => true,
    failure: { message: "status 500", isAnswer: false } as Parameters<DeliveryQueue["failed"]>[1],
    /** @param cuids of whom there is an event each. */
    add: (...cuids: string[]) => events.push(...cuids.map((cuid, index) => eventOf(events.length + 1 + index, cuid))),
    pass,
    /** Another process goes on from what was saved. */
    goOn: () => {
      const waiting = [...rows.values()]
        .sort((a, b) => a.seq - b.seq)
        .map((row) => ({ row, event: events[row.seq - 1] as Recorded<ConnectionEvent> }));
      all.queue = new DeliveryQueue(billing, { place: all.place, waiting }, () => 0.5);
    },
    triesOf: (seq: number) => tried.filter((each) => each.seq === seq).map(({ seconds }) => seconds),
  };

  /** @param stepMs how often it is looked for what is due. */
  function pass(ms: number, stepMs = STEP_MS): void {
    for (const end = all.now + ms; all.now < end; all.now += stepMs) round(all.now);
  }

  function round(now: Instant): void {
    const { queue } = all;
    for (const seq of queue.due(now)) attempt(queue.retry(events[seq - 1] as Recorded<ConnectionEvent>, now), now);
    if (queue.wantsMore()) queue.add(events.slice(queue.progress.lastRead, queue.progress.lastRead + 500), now);
    for (let next = queue.next(now); next !== undefined; next = queue.next(now)) attempt(next, now);
    const changes = queue.progress.changes();
    if (changes === undefined) return;
    for (const seq of changes.done) rows.delete(seq);
    for (const row of changes.waiting) rows.set(row.seq, row);
    all.place = changes.place;
    queue.progress.saved(changes);
  }

  function attempt(made: Attempt | undefined, now: Instant): void {
    if (made === undefined) return;
    tried.push({ seq: made.event.seq, seconds: (now - START) / 1000 });
    if (all.takes(made.event as Recorded<ConnectionEvent>)) all.queue.succeeded(made, now);
    else all.queue.failed(made, all.failure, now);
  }

  return all;
}

describe("an event that fails", () => {
  test("is tried again after 1, 5, 30 seconds, 2, 10, 60 minutes, and then hourly with jitter", () => {
    const all = scene();
    all.add("c1");
    all.takes = () => false;
    all.pass(4 * 60 * MINUTE_MS);
    const tries = all.triesOf(1);
    // The jitter here is half of its most.
    expect(tries.slice(1).map((at, index) => at - (tries[index] ?? 0))).toEqual([1, 5, 30, 120, 600, 3780, 3780, 3780]);
    expect(all.rows.get(1)).toMatchObject({ attempts: 9, failedAt: START, setAside: false, problem: "status 500" });
    expect(all.queue.figures()).toEqual({ waiting: 1, setAside: 0, oldestAt: START });
  });

  test("is set aside after three days in which others got through", () => {
    const all = scene();
    all.add("bad");
    all.takes = ({ key }) => key.cuid !== "bad";
    all.pass(3 * DAY_MS - MINUTE_MS);
    all.add("good");
    all.pass(MINUTE_MS);
    expect(all.queue.figures()).toMatchObject({ waiting: 1, setAside: 0 });
    all.pass(70 * MINUTE_MS);
    expect(all.queue.figures()).toEqual({ waiting: 0, setAside: 1, oldestAt: undefined });
    expect(all.rows.get(1)).toMatchObject({ setAside: true });
    const tries = all.tried.length;
    all.pass(DAY_MS, 10_000);
    expect(all.tried).toHaveLength(tries);
  });

  test("is not set aside where nothing else got through", () => {
    const all = scene();
    all.add("good");
    all.pass(MINUTE_MS);
    all.add("bad");
    all.takes = () => false;
    all.pass(5 * DAY_MS, 10_000);
    expect(all.queue.figures()).toMatchObject({ waiting: 1, setAside: 0 });
  });
});

describe("a target that names a time for the next attempt", () => {
  test("gets nothing before it, neither retries nor other events, and everything from then on", () => {
    const all = scene();
    all.add("c1", "c2");
    all.takes = ({ key }) => key.cuid !== "c1";
    all.failure = { message: "status 429", isAnswer: true, retryAt: START + 2 * MINUTE_MS };
    all.pass(STEP_MS);
    // The attempts at both events began before the answer.
    expect(all.rows.get(1)).toMatchObject({ nextAt: START + 2 * MINUTE_MS });
    all.add("c1", "c3");
    all.takes = () => true;
    all.pass(2 * MINUTE_MS - STEP_MS);
    expect(all.tried.filter(({ seconds }) => seconds > 0)).toEqual([]);
    all.pass(STEP_MS);
    expect(all.triesOf(3)).toEqual([120]);
    expect([all.triesOf(4), all.triesOf(1)]).toEqual([[120], [0]]);
  });

  test("is held by the latest time of all answers, and retried later where the usual time is later", () => {
    const all = scene();
    all.add("c1");
    all.takes = () => false;
    all.failure = { message: "status 503", isAnswer: true, retryAt: START + 3_000 };
    all.pass(3_000 + 4 * STEP_MS);
    // The second failure names a time that is past: five seconds are the usual pause.
    expect(all.triesOf(1)).toEqual([0, 3]);
    all.pass(MINUTE_MS);
    expect(all.triesOf(1).slice(0, 3)).toEqual([0, 3, 8]);
  });

  test("keeps it for the failed event where another process continues", () => {
    const all = scene();
    all.add("c1");
    all.takes = () => false;
    all.failure = { message: "status 429", isAnswer: true, retryAt: START + 2 * MINUTE_MS };
    all.pass(STEP_MS);
    all.goOn();
    all.pass(2 * MINUTE_MS);
    expect(all.triesOf(1)).toEqual([0, 120]);
  });

  test("is not asked by a probe either, while it is unavailable", () => {
    const all = scene();
    all.add(...Array.from({ length: 40 }, (_, index) => `c${index}`));
    all.takes = () => false;
    all.failure = { message: "status 503", isAnswer: true, retryAt: START + 2 * MINUTE_MS };
    all.pass(2 * MINUTE_MS);
    expect(all.tried.filter(({ seconds }) => seconds > 0)).toEqual([]);
  });
});

test("a target that is gone gets nothing more, and its events wait", () => {
  const all = scene();
  all.add("c1");
  all.takes = () => false;
  all.failure = { message: "status 410", isAnswer: true, retryAt: Infinity };
  const { queue } = all;
  queue.add(all.events, START);
  expect(queue.failed(queue.next(START) as Attempt, all.failure, START)).toBe("gone");
  const saving = queue.progress.changes();
  expect(saving).toMatchObject({ isGone: true, waiting: [{ seq: 1, attempts: 1, nextAt: START + 1_000 }] });
  if (saving !== undefined) queue.progress.saved(saving);
  expect(queue.progress.changes()).toBeUndefined();
  all.add("c1", "c2");
  all.pass(DAY_MS, MINUTE_MS);
  expect(all.tried).toEqual([]);
});

describe("a target that is away for a day", () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `c${index}`);

  test("has few events waiting, and gets all of them once it is back", () => {
    const all = scene();
    all.add(...names);
    all.takes = () => false;
    all.pass(DAY_MS, 10_000);
    // One new event each half a minute.
    expect(all.rows.size).toBeLessThanOrEqual(32 + 2880);
    expect(all.rows.size).toBeGreaterThan(2000);
    all.takes = () => true;
    all.pass(60_000);
    expect([all.place, all.rows.size]).toEqual([10_000, 0]);
    expect(all.queue.figures()).toEqual({ waiting: 0, setAside: 0, oldestAt: undefined });
  });

  test("of whose events some cannot be taken at all: the others get through all the same", () => {
    const all = scene();
    all.add(...names.slice(0, 100));
    all.takes = ({ seq }) => seq > 60;
    all.pass(30 * MINUTE_MS);
    expect([all.place, all.rows.size]).toEqual([100, 60]);
  });

  test("has nothing set aside, and the three days count anew once it is back", () => {
    const all = scene();
    all.add(...names.slice(0, 100));
    all.takes = () => false;
    all.pass(4 * DAY_MS, 10_000);
    expect(all.queue.figures().setAside).toBe(0);
    all.takes = ({ key }) => key.cuid !== "c5";
    all.pass(2 * MINUTE_MS);
    expect(all.queue.figures()).toMatchObject({ waiting: 1, setAside: 0 });
    all.pass(2 * DAY_MS, 10_000);
    expect(all.queue.figures()).toMatchObject({ waiting: 1, setAside: 0 });
  });
});

test("a target is not taken for away where events fail again that failed before", () => {
  const all = scene();
  all.add(...Array.from({ length: 31 }, (_, index) => `bad${index}`));
  all.takes = ({ key }) => !key.cuid.startsWith("bad");
  all.pass(5 * 60 * MINUTE_MS);
  all.add("good");
  all.pass(STEP_MS);
  expect(all.tried.at(-1)?.seq).toBe(32);
});

test("an event is not retried while a newer one of its connection is ready, also while the target is away", () => {
  const all = scene();
  all.add(...Array.from({ length: 32 }, (_, index) => `c${index}`));
  all.takes = () => false;
  all.pass(STEP_MS);
  all.add("c0");
  const { queue } = all;
  queue.add(all.events.slice(32), all.now);
  const later = all.now + MINUTE_MS;
  expect(queue.due(later)).not.toContain(1);
  expect(queue.retry(all.events[0] as Recorded<ConnectionEvent>, later)).toBeUndefined();
  expect(queue.next(later)?.event.seq).toBe(33);
});

test("what changes while progress is saved is saved the next time", () => {
  const all = scene();
  all.add("c1");
  all.takes = () => false;
  const { queue } = all;
  queue.add(all.events, START);
  const first = queue.next(START);
  if (first !== undefined) queue.failed(first, { message: "status 500", isAnswer: false }, START);
  const saving = queue.progress.changes();
  const second = queue.retry(all.events[0] as Recorded<ConnectionEvent>, START + 1000);
  if (second !== undefined) queue.failed(second, { message: "status 503", isAnswer: false }, START + 1000);
  expect(saving?.waiting).toMatchObject([{ seq: 1, attempts: 1 }]);
  if (saving !== undefined) queue.progress.saved(saving);
  expect(queue.progress.changes()).toMatchObject({ place: 1, waiting: [{ seq: 1, attempts: 2 }] });
});

describe("a target that answers, and refuses many events in a row", () => {
  const many = Array.from({ length: 500 }, (_, index) => `bad${index}`);

  test("gets the others within minutes", () => {
    const all = scene();
    all.failure = { message: "status 422", isAnswer: true };
    all.takes = ({ key }) => key.cuid === "good";
    all.add(...many, "good");
    all.pass(10 * MINUTE_MS);
    expect(all.triesOf(501)).toHaveLength(1);
  });

  test("is not away to whoever goes on, once it has taken others", () => {
    const all = scene();
    all.takes = ({ key }) => !key.cuid.startsWith("bad");
    all.add(
      ...many.slice(0, 20),
      "good1",
      ...many.slice(20, 40),
      ...Array.from({ length: 32 }, (_, index) => `ok${index}`),
    );
    all.pass(MINUTE_MS);
    all.goOn();
    expect(all.queue.isUnavailable).toBe(false);
  });
});

test("what is said of a connection that moves to another customer arrives in order", () => {
  const { queue } = scene();
  const moved = ["c1", "c2"].map((cuid, index) => ({ ...eventOf(index + 1), key: { ...keyOf("c1"), cuid } }));
  queue.add(moved, START);
  const first = queue.next(START) as Attempt;
  expect([first.event.seq, queue.next(START)]).toEqual([1, undefined]);
  queue.succeeded(first, START);
  expect(queue.next(START)?.event.seq).toBe(2);
});

test("what waits after an orderly end gives way, where it fails, to a later one of its connection", () => {
  const all = scene();
  all.add("c1", "c1");
  all.queue.add(all.events, START);
  all.queue.putBack(START);
  for (const row of all.queue.progress.changes()?.waiting ?? []) all.rows.set(row.seq, row);
  all.place = 2;
  all.goOn();
  all.takes = ({ seq }) => seq === 2;
  all.pass(2_000);
  expect([all.triesOf(1).length, all.triesOf(2).length, all.rows.size]).toEqual([1, 1, 0]);
});

describe("after a kill", () => {
  test("what was taken before an event that waits is not sent after it", () => {
    const all = scene();
    all.add("c1", "c1");
    all.takes = ({ seq }) => seq === 1;
    all.pass(STEP_MS);
    expect(all.rows.get(2)).toMatchObject({ attempts: 1 });
    // The place was not saved together with it.
    all.place = 0;
    all.goOn();
    all.pass(MINUTE_MS);
    expect(all.triesOf(1)).toHaveLength(1);
    all.takes = () => true;
    all.pass(10 * MINUTE_MS);
    expect([all.place, all.rows.size]).toEqual([2, 0]);
  });

  test("nor is it where the one that waited gets through before it is read again", () => {
    const all = scene();
    const others = Array.from({ length: 1500 }, (_, index) => `other${index}`);
    all.add(...others, "c1", "c1");
    all.takes = ({ seq }) => seq < 1502;
    all.pass(STEP_MS * 8);
    expect([...all.rows.keys()]).toEqual([1502]);
    const before = all.tried.length;
    all.place = 0;
    all.goOn();
    all.takes = () => true;
    all.pass(MINUTE_MS);
    expect(all.tried.slice(before).filter(({ seq }) => seq > 1500)).toMatchObject([{ seq: 1502 }]);
    expect(all.place).toBe(1502);
  });

  test("billing gets each event of a connection in order, however often others go on", () => {
    const all = scene(true);
    const taken: number[] = [];
    let isFixed = false;
    all.takes = ({ seq }) => {
      if (isFixed) taken.push(seq);
      return isFixed;
    };
    for (let time = 0; time < 5; time += 1) {
      all.add("c1", "c1");
      all.pass(MINUTE_MS);
      all.goOn();
    }
    isFixed = true;
    all.pass(60 * MINUTE_MS);
    expect(taken).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect([all.place, all.rows.size]).toEqual([10, 0]);
  });
});

test("alerts hold up no connection, and only an alert of the same kind about the same partner replaces one", () => {
  const sent: number[] = [];
  const queue = new DeliveryQueue(true, { place: 0, waiting: [] }, () => 0.5);
  queue.add([alertEvent(1), eventOf(2), alertEvent(3), alertEvent(4, { partnerId: 2 }), eventOf(5)], START);
  for (let next = queue.next(START); next !== undefined; next = queue.next(START)) {
    sent.push(next.event.seq);
    queue.failed(next, { message: "status 500", isAnswer: true }, START);
  }
  expect(sent).toEqual([1, 2, 4, 5]);
  // The second alert about the first partner waits for billing behind the first.
  expect(queue.figures().waiting).toBe(5);
});
