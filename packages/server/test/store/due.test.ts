import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { due } from "../../campaign/due.ts";
import type { ToldChange } from "../../src/domain/news.ts";
import { DeliveryFailed, LONGEST_PAUSE_MS } from "../../src/domain/target.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";
import {
  type AcceptedAttempt,
  type Attempt,
  type BegunDue,
  change,
  dueOf,
  refresh,
  restored,
} from "../../src/store/due.ts";
import { changeDue } from "../../src/store/postgres/ledgers.ts";
import { run } from "../../src/store/postgres/many-rows.ts";
import { Database } from "../../src/store/sqlite/database.ts";
import { dueChanging } from "../../src/store/sqlite/ledgers.ts";
import { DueDelivery, type DueDeliveryPorts } from "../../src/workers/due-delivery.ts";
import { type MakeDatabase, openStore } from "../store-suite/database.ts";
import { makePostgresDatabase } from "../support/postgres-database.ts";
import { makeSqliteDatabase } from "../support/sqlite-database.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NOW = Date.parse("2026-11-28T09:00:00Z");
const SECOND = 1_000;
const MINUTE = 60_000;
const [TV, BILLING] = [1, 2];
const [A, B, C] = ["a", "b", "c"].map((reqId) => `connection production tv ${reqId}`) as [string, string, string];
const FACT = "fact entry 7 production 4711";
const HELD = { lease: "target", holder: "a" };
const OTHER = { lease: "target", holder: "b" };
const NOTHING_BUSY: ReadonlySet<string> = new Set();

async function openDue(makeDatabase: MakeDatabase) {
  const { store } = await openStore(makeDatabase);
  const { engine } = store;
  const { db } = engine;
  const tables = dueOf(engine);
  const put = (holder: string) =>
    engine.transact((tx) => engine.rows.put(tx, "lease", [{ name: "target", holder, held_until: NOW }]));
  await put("a");
  const news = (subject: string, more: Partial<ToldChange> = {}): ToldChange => {
    const cuid = subject.startsWith("fact") ? undefined : "1000001";
    return { subject, cuid, kind: "subscription.changed", at: NOW, targets: [TV], ...more };
  };
  return {
    ...{ engine, db, tables, put, news },
    change: (...changes: readonly ToldChange[]) => engine.transact((tx) => change(tx, changes)),
    begin: async (now = NOW, limit = 10, busy = NOTHING_BUSY) =>
      (await tables.begin({ targetId: TV, now, limit, busy }, HELD)) as BegunDue[],
    record: (due: BegunDue, end: Attempt, by = HELD) =>
      tables.recordAttempts({ targetId: TV, ended: [{ due, end }], isGone: false }, by),
    rows: () => db.selectFrom("due").selectAll().orderBy("targetId").orderBy("subject").execute(),
    told: () => db.selectFrom("told").selectAll().orderBy("targetId").orderBy("subject").execute(),
  };
}

const accepted = (more: Partial<AcceptedAttempt> = {}): AcceptedAttempt => {
  return { ok: true, sentAt: NOW, at: NOW + 50, waits: false, ...more };
};
const failed = { ok: false, attempts: 1, isHopeless: false, retryAt: NOW + SECOND, problem: "status 500" } as const;

const ENGINES = [
  ["SQLite", () => makeSqliteDatabase(), 30],
  ["PostgreSQL", () => makePostgresDatabase(), 8],
] as const;

describe.each(ENGINES)("on %s", (_, makeDatabase, rounds) => {
  test("a receiver ends with the present state of each connection and with every fact, whatever happens", async () => {
    const { store } = await openStore(makeDatabase);
    const report = await due({ seed: 1, rounds, engine: store.engine });
    expect(report).not.toMatch(/ 0 /);
  });

  test("changes of a subject add up to one row, which stays due since the oldest", async () => {
    const { change, news, rows } = await openDue(makeDatabase);
    const first = news(A, { at: NOW - MINUTE, targets: [TV, BILLING] });
    await change(
      first,
      news(A, { kind: "connection.blocked", cuid: "1000002" }),
      news(FACT, { kind: "account.entry" }),
    );
    const row = { subject: A, state: "open", attempts: 0, problem: null, sent: 0, sentChanges: 0, since: NOW - MINUTE };
    const blocked = { cuid: "1000002", kind: "connection.blocked", nextAt: NOW };
    expect(await rows()).toEqual([
      { ...row, targetId: TV, changes: 2, ...blocked },
      { ...row, targetId: TV, changes: 1, subject: FACT, cuid: null, kind: "account.entry", since: NOW, nextAt: NOW },
      { ...row, targetId: BILLING, changes: 1, cuid: "1000001", kind: "subscription.changed", nextAt: NOW - MINUTE },
    ]);
    await change(news(A, { at: NOW + MINUTE }), news(A, { at: NOW + MINUTE }));
    expect((await rows())[0]).toMatchObject({ changes: 4, since: NOW - MINUTE, nextAt: NOW + MINUTE });
  });

  test("what is due begins with the longest due, and with a version greater than all before", async () => {
    const { change, news, begin, record, engine } = await openDue(makeDatabase);
    await change(news(A), news(B, { at: NOW - MINUTE }), news(C, { at: NOW + MINUTE }));
    expect((await begin(NOW, 1)).map(({ subject }) => subject)).toEqual([B]);
    const [first, second] = await begin();
    expect([first?.subject, first?.sent, second?.subject, second?.sent]).toEqual([B, NOW + 1, A, NOW]);
    expect((await begin(NOW, 10, new Set([B]))).map(({ subject, sent }) => [subject, sent])).toEqual([[A, NOW + 1]]);
    const [sent] = await begin();
    await record(sent as BegunDue, accepted());
    await change(news(B));
    // The clock was set back.
    const [again] = await begin(NOW - MINUTE + 1, 1);
    expect(again).toBeUndefined();
    await change(news(B, { at: NOW - DAY_MS }));
    const [back] = await begin(NOW - DAY_MS, 1);
    expect(back).toMatchObject({ subject: B, sent: (sent as BegunDue).sent + 1, rights: null });
    await engine.transact((tx) => refresh(tx, TV, [{ subject: C, cuid: "1000001" }], NOW));
    expect((await begin(NOW, 10, new Set([A, B])))[0]).toMatchObject({ subject: C, sent: NOW + 1 });
  });

  test("what waits longer than any attempt can name was written by a clock that was ahead, and is due", async () => {
    const { change, news, begin, tables } = await openDue(makeDatabase);
    await change(news(A, { at: NOW + LONGEST_PAUSE_MS }));
    expect([await begin(), await tables.targetsDue(NOW)]).toEqual([[], []]);
    await change(news(B, { at: NOW + 6 * 3_600_000, targets: [TV, BILLING] }));
    expect((await begin()).map(({ subject }) => subject)).toEqual([B]);
    expect(await tables.targetsDue(NOW)).toEqual([TV, BILLING]);
  });

  test("the targets with something due are found", async () => {
    const { change, news, tables } = await openDue(makeDatabase);
    expect(await tables.targetsDue(NOW)).toEqual([]);
    await change(news(A, { targets: [3, 9] }), news(B, { at: NOW + 1, targets: [2, 9] }));
    expect(await tables.targetsDue(NOW)).toEqual([3, 9]);
    expect(await tables.targetsDue(NOW + 1)).toEqual([2, 3, 9]);
  });

  test("another holder of the lease begins and records nothing", async () => {
    const { change, news, begin, record, tables, put, rows } = await openDue(makeDatabase);
    await change(news(A));
    const [begun] = await begin();
    expect(await tables.begin({ targetId: TV, now: NOW, limit: 1, busy: NOTHING_BUSY }, OTHER)).toBeUndefined();
    await put("b");
    expect(await record(begun as BegunDue, accepted())).toBe(false);
    expect(await tables.turn("2026-11-28 09:00:00", async () => [news(B)], HELD)).toBe(false);
    await tables.retryAll(TV, NOW - 1, HELD);
    expect(await rows()).toMatchObject([{ subject: A, sent: NOW, nextAt: NOW }]);
  });

  test("an attempt counts for the changes that it has read", async () => {
    const { change, news, begin, record, rows, told } = await openDue(makeDatabase);
    await change(news(A), news(B), news(FACT));
    const begun = await begin();
    await change(news(A, { at: NOW + SECOND }));
    for (const each of begun) await record(each, accepted({ waits: each.subject === B, rights: '{"group":"gold"}' }));
    const row = { changes: 2, since: NOW, state: "open", sent: NOW, sentChanges: 1 };
    expect(await rows()).toMatchObject([
      { subject: A, ...row },
      { subject: B, state: "waits", since: NOW },
    ]);
    const times = { version: NOW, sentAt: NOW, acceptedAt: NOW + 50, endedAt: null, rights: '{"group":"gold"}' };
    expect(await told()).toMatchObject([
      { subject: A, state: "done", ...times },
      { subject: B, state: "waits", ...times },
    ]);
    const [later] = await begin(NOW + SECOND);
    expect(later).toMatchObject({ subject: A, rights: '{"group":"gold"}' });
  });

  test("a failure is retried, or set aside until the next change", async () => {
    const { change, news, begin, record, rows, told, tables } = await openDue(makeDatabase);
    await change(news(A), news(FACT));
    const [connection, fact] = (await begin()) as [BegunDue, BegunDue];
    await record(connection, { ...failed, problem: "status\u0000500" });
    await record(fact, { ...failed, attempts: 78, isHopeless: true });
    expect(await rows()).toMatchObject([
      { state: "open", nextAt: NOW + SECOND, attempts: 1, problem: "status\uFFFD500", since: NOW },
      { state: "aside", attempts: 78, since: NOW },
    ]);
    expect(await told()).toEqual([]);
    expect([await begin(), (await begin(NOW + SECOND)).length]).toEqual([[], 1]);
    await tables.retryAll(TV, NOW, HELD);
    expect(await rows()).toMatchObject([{ nextAt: NOW, attempts: 1 }, { state: "aside" }]);
    await change(news(FACT, { at: NOW + MINUTE }));
    expect((await rows())[1]).toMatchObject({ state: "open", attempts: 0, problem: null, since: NOW });
  });

  test("a target that is gone is paused", async () => {
    const { db, tables } = await openDue(makeDatabase);
    const target = { id: TV, name: "tv", config: "{}", secrets: "[]", createdAt: NOW, place: 0 };
    const nothing = { partnerId: null, environment: null, resentAt: null, keyHash: null };
    const running = { billing: 0, paused: 0, gone: 0 } as const;
    await db
      .insertInto("target")
      .values({ ...target, ...nothing, ...running })
      .execute();
    expect(await tables.recordAttempts({ targetId: TV, ended: [], isGone: true }, HELD)).toBe(true);
    expect(await db.selectFrom("target").select(["paused", "gone"]).execute()).toEqual([{ paused: 1, gone: 1 }]);
  });

  test("a confirmation counts for the version that it names, also before the answer", async () => {
    const { change, news, begin, record, tables, rows, told } = await openDue(makeDatabase);
    const done = (subject: string, version?: number) =>
      tables.confirm(TV, { subject, version, state: "done", detail: "box\u0000authorised" }, NOW + SECOND);
    await change(news(A), news(B), news(FACT));
    expect(await done(A, NOW)).toEqual({ state: "unknown" });
    expect(await done(FACT)).toEqual({ state: "unknown" });
    const [a, b, fact] = (await begin()) as [BegunDue, BegunDue, BegunDue];
    await change(news(B, { at: NOW + SECOND }));
    expect(await done(A, a.sent)).toEqual({ state: "done", doneSince: NOW });
    expect(await done(B, b.sent)).toEqual({ state: "done", doneSince: undefined });
    expect(await done(FACT)).toEqual({ state: "done", doneSince: NOW });
    for (const each of [a, b, fact]) await record(each, accepted({ waits: true }));
    expect(await rows()).toMatchObject([{ subject: B, state: "open", changes: 2 }]);
    const confirmed = { state: "done", detail: "box\uFFFDauthorised", sentAt: NOW, acceptedAt: NOW + 50 };
    expect(await told()).toMatchObject([
      { subject: A, ...confirmed, endedAt: NOW + SECOND },
      { subject: B, ...confirmed, endedAt: NOW + SECOND },
    ]);
    const [again] = (await begin(NOW + SECOND)) as [BegunDue];
    await record(again, accepted());
    expect(await done(B, b.sent)).toEqual({ state: "replaced" });
    expect(await done(B, again.sent + 1)).toEqual({ state: "unknown" });
    expect(await rows()).toEqual([]);
  });

  test("what a receiver says failed stays open and late until the next change, also if it had counted as done", async () => {
    const { change, news, begin, record, tables, rows } = await openDue(makeDatabase);
    const fail = (subject: string, version: number) =>
      tables.confirm(TV, { subject, version, state: "failed", detail: "no such card" }, NOW + MINUTE);
    await change(news(A), news(B));
    const [a, b] = (await begin()) as [BegunDue, BegunDue];
    await record(a, accepted({ waits: true }));
    await record(b, accepted());
    for (const { subject, sent } of [a, b])
      expect(await fail(subject, sent)).toEqual({ state: "failed", doneSince: undefined });
    const row = { state: "failed", problem: "no such card", sent: NOW };
    expect(await rows()).toMatchObject([
      { subject: A, ...row, since: NOW },
      { subject: B, ...row, since: NOW + 50 },
    ]);
    expect(await begin(NOW + DAY_MS)).toEqual([]);
    expect((await tables.late([TV], NOW + MINUTE)).count).toBe(2);
    const done = { version: b.sent, state: "done" } as const;
    expect(await tables.confirm(TV, { subject: B, ...done }, NOW)).toEqual({ state: "done", doneSince: NOW + 50 });
    await change(news(A, { at: NOW + MINUTE }));
    expect(await rows()).toMatchObject([{ subject: A, state: "open", problem: null, since: NOW }]);
  });

  test("what is only sent once more is late for nobody until a change joins it, and changes no other time", async () => {
    const { change, news, engine, rows, tables } = await openDue(makeDatabase);
    const again = () =>
      engine.transact((tx) =>
        refresh(
          tx,
          TV,
          [A, B].map((subject) => ({ subject, cuid: "7" })),
          NOW,
        ),
      );
    await change(news(A, { at: NOW - MINUTE, kind: "connection.blocked" }));
    await again();
    expect(await rows()).toMatchObject([
      { subject: A, changes: 2, since: NOW - MINUTE, kind: "connection.blocked", cuid: "7", nextAt: NOW, sent: NOW },
      { subject: B, changes: 1, since: null, kind: "subscription.changed", cuid: "7", nextAt: NOW, sent: NOW },
    ]);
    expect(await tables.late([TV], NOW + DAY_MS)).toMatchObject({ count: 1, longest: [{ subject: A }] });
    await change(news(B, { at: NOW + MINUTE }));
    await again();
    expect((await rows())[1]).toMatchObject({ since: NOW + MINUTE, changes: 3 });
  });

  test("after a restore, each open row is due, and the rights that RADIUS carried out are forgotten", async () => {
    const { change, news, begin, record, engine, rows, told } = await openDue(makeDatabase);
    await change(news(A), news(B));
    const [a, b] = (await begin()) as [BegunDue, BegunDue];
    await record(a, accepted({ waits: true, rights: "{}" }));
    await record(b, { ...failed, isHopeless: true });
    await engine.transact((tx) => restored(tx, NOW + MINUTE));
    expect(await rows()).toMatchObject([
      { state: "open", nextAt: NOW + MINUTE, sentChanges: 0 },
      { state: "open", nextAt: NOW + MINUTE, sentChanges: 0 },
    ]);
    expect(await told()).toMatchObject([{ subject: A, rights: null }]);
  });

  test("late connections are counted in whatever state they are, and the longest 50 are listed", async () => {
    const { change, news, tables } = await openDue(makeDatabase);
    const names = Array.from({ length: 60 }, (_each, index) => `connection production tv ${index}`);
    await change(
      ...names.map((subject, index) => news(subject, { at: NOW - index, targets: [TV, BILLING] })),
      news(FACT),
    );
    const { count, longest } = await tables.late([TV], NOW);
    expect([count, longest.length, longest[0]?.subject, longest[0]?.since]).toEqual([59, 50, names.at(-1), NOW - 59]);
    expect((await tables.late([TV, BILLING], NOW + 1)).count).toBe(120);
    expect(await tables.late([], NOW + 1)).toEqual({ count: 0, longest: [] });
  });

  test("what targets lack is counted, and the desk reads how far a connection is at each", async () => {
    const { change, news, begin, record, engine, db, tables } = await openDue(makeDatabase);
    await change(news(A), news(B, { at: NOW - MINUTE }), news(C), news(FACT, { targets: [BILLING] }));
    const [b, a, c] = (await begin()) as [BegunDue, BegunDue, BegunDue];
    await record(b, accepted({ waits: true }));
    await record(a, failed);
    await record(c, { ...failed, isHopeless: true });
    await engine.transact((tx) => refresh(tx, TV, [{ subject: `${A}a`, cuid: "7" }], NOW));
    const none = { waits: 0, failed: 0, aside: 0, failing: 0, refreshed: 0 };
    expect(await tables.counts()).toEqual([
      {
        targetId: TV,
        open: 2,
        failing: 1,
        waits: 1,
        failed: 0,
        aside: 1,
        refreshed: 1,
        oldest: NOW - MINUTE,
        oldestDue: NOW - MINUTE,
      },
      { ...none, targetId: BILLING, open: 1, oldest: NOW, oldestDue: NOW },
    ]);
    expect(await tables.status([B])).toEqual({ due: [], told: [] });
    const target = { id: TV, name: "tv", config: "{}", secrets: "[]", createdAt: NOW, place: 0, resentAt: null };
    const plain = { partnerId: null, environment: null, keyHash: null, billing: 0, paused: 0, gone: 0 } as const;
    await db
      .insertInto("target")
      .values({ ...target, ...plain })
      .execute();
    expect(await tables.status([B, C])).toMatchObject({
      due: [
        { subject: B, state: "waits" },
        { subject: C, state: "aside" },
      ],
      told: [{ subject: B, state: "waits", version: b.sent }],
    });
  });

  test("a look at beginnings and ends goes back with the clock, so that what ends meanwhile is not missed", async () => {
    const { news, rows, tables } = await openDue(makeDatabase);
    const looked: string[][] = [];
    const look = async (wall: string) => {
      const find = async (_tx: unknown, after: string, until: string) => {
        looked.push([after, until]);
        return after < "2026-11-28 09:30:00" && until >= "2026-11-28 09:30:00" ? [news(A)] : [];
      };
      expect(await tables.turn(wall, find, HELD)).toBe(true);
      return (await rows()).map(({ changes }) => changes);
    };
    expect(await look("2026-11-28 09:00:00")).toEqual([]);
    expect(await look("2026-11-28 10:00:00")).toEqual([1]);
    expect(await look("2026-11-28 09:15:00")).toEqual([1]);
    expect(await look("2026-11-28 09:30:00")).toEqual([2]);
    expect(looked).toEqual([
      ["2026-11-28 09:00:00", "2026-11-28 10:00:00"],
      ["2026-11-28 09:15:00", "2026-11-28 09:30:00"],
    ]);
  });
});

/** Stories that chance seldom tells. */
describe.each(ENGINES)("a target on %s", (_, makeDatabase) => {
  async function openStory() {
    const opened = await openDue(makeDatabase);
    const time = { now: NOW };
    let sends = 0;
    const numbers: number[] = [];
    const answer = { to: async (_due: BegunDue): Promise<boolean> => false };
    const ports: DueDeliveryPorts = {
      ...{ clock: () => time.now, stopwatch: () => time.now, random: () => 0.5, log: () => {}, store: opened.tables },
      sleep: (_ms, signal) => new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
      prepare: async (begun, number) => {
        numbers.push(number);
        return begun.map((row) => ({
          due: row,
          async send() {
            sends += 1;
            return { waits: await answer.to(row) };
          },
        }));
      },
    };
    const delivery = new DueDelivery({ id: TV, name: "tv", billing: false }, { ...HELD, leftMs: Infinity }, ports);
    const look = async (times: number, every: number) => {
      for (let each = 0; each < times; each += 1) {
        time.now += every;
        await delivery.look();
        // What was sent has ended before the next look.
        for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      }
    };
    const states = async () => (await opened.rows()).map(({ state }) => state);
    return { ...opened, time, look, states, answer, numbers, sends: () => sends };
  }

  test("gets a fact once that is confirmed before the answer, and once more if staff send it again", async () => {
    const { tables, change, news, look, states, answer, sends, time } = await openStory();
    answer.to = async ({ subject }) => {
      await tables.confirm(TV, { subject, version: undefined, state: "done" }, time.now);
      return true;
    };
    for (let each = 1; each <= 3; each += 1) {
      await change(news(FACT, { at: time.now }));
      await look(20, SECOND);
      expect([sends(), await states()]).toEqual([each, []]);
    }
  });

  test("is not sent again by itself what it said failed", async () => {
    const { tables, change, news, look, states, answer, sends, time } = await openStory();
    answer.to = async ({ subject, sent }) => {
      await tables.confirm(TV, { subject, version: sent, state: "failed", detail: "no such card" }, time.now);
      return true;
    };
    await change(news(A));
    await look(100, MINUTE);
    expect([sends(), await states()]).toEqual([1, ["failed"]]);
  });

  test("that was unavailable for four days has nothing set aside, and gets all within minutes", async () => {
    const { change, news, look, states, answer, sends } = await openStory();
    answer.to = async () => {
      throw new DeliveryFailed("unavailable");
    };
    await change(...Array.from({ length: 20 }, (_each, index) => news(`fact topup 1 production ${index}`)));
    await look(4 * 24 * 4, 15 * MINUTE);
    expect(await states()).toEqual(Array(20).fill("open"));
    const before = sends();
    const refused = new Set<string>();
    answer.to = async ({ subject }) => {
      if (refused.has(subject) || subject.endsWith("7")) return false;
      refused.add(subject);
      throw new DeliveryFailed("status 503", { isAnswer: true });
    };
    await look(70, 2 * MINUTE);
    expect(await states()).toEqual([]);
    expect(sends() - before).toBe(38);
  });

  test("is told of what is read later with a greater number, though the clock stands or goes back", async () => {
    const { change, news, look, numbers } = await openStory();
    for (const step of [0, 0, -SECOND]) {
      await change(news(A, { at: NOW - MINUTE }));
      await look(1, step);
      await look(1, SECOND);
    }
    expect(numbers).toHaveLength(3);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    expect(new Set(numbers).size).toBe(3);
  });

  test("has what it refuses set aside after three days of its own", async () => {
    const { change, news, look, states, answer, time } = await openStory();
    answer.to = async ({ subject }) => {
      if (subject === FACT) throw new DeliveryFailed("status 400", { isAnswer: true });
      return false;
    };
    await change(news(FACT));
    while (!(await states()).includes("aside") && time.now - NOW < 8 * DAY_MS) {
      await change(news("fact topup 1 production 1", { at: time.now }));
      await look(1, 20 * MINUTE);
    }
    expect(await states()).toContain("aside");
    expect((time.now - NOW) / DAY_MS).toBeGreaterThan(3);
    expect((time.now - NOW) / DAY_MS).toBeLessThan(4.5);
  });
});

const subject = fc.constantFrom(
  A,
  B,
  FACT,
  "connection production tv 𝕊",
  "connection production tv \uFFFD",
  'fact entry 1 "\\',
);
const anyChange = fc.record({
  subject,
  cuid: fc.constantFrom("1000001", undefined),
  kind: fc.constantFrom("subscription.changed" as const, "connection.blocked" as const),
  at: fc.integer({ min: NOW, max: NOW + 9 }),
  targets: fc.uniqueArray(fc.constantFrom(1, 2, 30)),
});
const batches = fc.array(fc.array(anyChange, { maxLength: 8 }), { minLength: 1, maxLength: 4 });

type Opened = Awaited<ReturnType<typeof openDue>>;

/** Applies batches by hand-written statements, and holds the rows against those of Kysely's. */
async function expectAlike(opened: Opened, byHand: (changes: readonly ToldChange[]) => Promise<unknown>) {
  const empty = () => opened.db.deleteFrom("due").execute();
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      await empty();
      for (const changes of all) await opened.change(...changes);
      const expected = await opened.rows();
      await empty();
      for (const changes of all) await byHand(changes);
      expect(await opened.rows()).toEqual(expected);
    }),
    { numRuns: 50 },
  );
}

test("a batch on SQLite makes the same rows due as a transaction of staff", async () => {
  const path = `${temporaryFolder()}/topupd.db`;
  const opened = await openDue(() => makeSqliteDatabase(path));
  const database = new Database(path, { mustExist: true });
  const apply = dueChanging(database);
  await expectAlike(opened, async (changes) => apply(changes));
  database.close();
});

test("a batch on PostgreSQL makes the same rows due as a transaction of staff", async () => {
  const opened = await openDue(() => makePostgresDatabase());
  await expectAlike(opened, (changes) =>
    opened.engine.transact(async (tx) => {
      for (const query of changeDue(changes)) await run(tx, query);
    }),
  );
});

test("on PostgreSQL, batches, staff, attempts and confirmations of the same rows never deadlock", async () => {
  const database = makePostgresDatabase();
  const { engine, tables, change, news, begin } = await openDue(() => database);
  const names = Array.from({ length: 40 }, (_, index) => `connection production tv ${(index * 7919) % 1_000}`);
  const backwards = names.toReversed();
  const all = (subjects: readonly string[]) => subjects.map((each) => news(each, { targets: [TV, BILLING] }));
  const batch = () =>
    engine.transact(async (tx) => {
      for (const query of changeDue(all(backwards))) await run(tx, query);
    });
  const attempts = async () => {
    const begun = await begin(NOW, 40);
    const ended = begun.toReversed().map((each, index) => ({ due: each, end: index % 3 === 0 ? failed : accepted() }));
    await tables.recordAttempts({ targetId: TV, ended, isGone: false }, HELD);
  };
  const confirmations = async () => {
    for (const each of backwards.slice(0, 10))
      await tables.confirm(TV, { subject: each, version: NOW, state: "failed" }, NOW);
  };
  const again = () =>
    engine.transact((tx) =>
      refresh(
        tx,
        TV,
        backwards.map((each) => ({ subject: each, cuid: "1" })),
        NOW,
      ),
    );
  const often = async (work: () => Promise<unknown>) => {
    for (let round = 0; round < 30; round += 1) await work();
  };
  await Promise.all([batch, () => change(...all(names)), attempts, confirmations, again].map(often));
  const read = () => database.read("SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()");
  // The server reports them a moment later.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await read()).toEqual([{ deadlocks: 0 }]);
});
