import { describe, expect, onTestFinished, test } from "vitest";
import type { RadiusSession, SessionAnswer, SessionTools, ToldUser } from "../../src/domain/sessions.ts";
import type { RadiusConfig, Target } from "../../src/domain/target.ts";
import { listAttention } from "../../src/office/alerts/operations.ts";
import { changeTarget } from "../../src/office/targets/change.ts";
import { addTarget, showTarget } from "../../src/office/targets/operations.ts";
import { outboxOf } from "../../src/store/outbox.ts";
import { sessionsDueOf, tellUsers } from "../../src/store/sessions-due.ts";
import { startEndingSessions } from "../../src/workers/end-sessions.ts";
import { run } from "../support/desk.ts";
import { seededRandom } from "../support/random.ts";
import { VirtualTime } from "../support/virtual-time.ts";
import { openWorld } from "../support/world.ts";

const MINUTE_MS = 60_000;
/** Turns of the event loop that a round on a database takes. */
const TURNS = 12;
const RADIUS = {
  database: "mysql://radius@10.0.0.9/radius",
  sessions: { devices: { "10.0.0.0/8": { secret: "s" } } },
};

interface Row extends RadiusSession {
  ended: boolean;
  reportedAt: string | undefined;
}

/** A target whose radacct and devices are in memory, and processes that can be killed. */
async function scene() {
  const world = await openWorld();
  const { engine } = world.store;
  await run(world.desk, addTarget, { name: "network", radius: RADIUS });
  const outbox = outboxOf(engine);
  const [target] = (await outbox.targets()) as [Target];
  const time = new VirtualTime(world.now, TURNS);
  const rows: Row[] = [];
  const asked: { readonly id: number; readonly at: number }[] = [];
  let [seq, holders] = [0, 0];
  const state = {
    ...{ time, rows, asked, logged: [] as string[], stepped: [] as number[] },
    /** The settings by which devices are asked. */
    served: undefined as RadiusConfig | undefined,
    /** What a device does with a request. */
    answer: async (row: Row): Promise<SessionAnswer> => {
      row.ended = true;
      return "accepted";
    },
    open(username: string, changes: Partial<Row> = {}): Row {
      const id = rows.length + 1;
      const row = { id, username, sessionId: `s${id}`, device: "10.0.0.1", framedAddress: undefined, caller: "AA" };
      rows.push({ ...row, ended: false, reportedAt: undefined, ...changes });
      return rows.at(-1) as Row;
    },
    async alter(usernames: readonly string[], told: Partial<ToldUser> = {}) {
      seq += 1;
      const users = usernames.map((username) => ({
        username,
        seq,
        at: time.clock(),
        alters: true,
        dueAt: time.clock(),
        ...told,
      }));
      await engine.transact((tx) => tellUsers(tx, target.id, users));
    },
    changeSecret(secret: string) {
      world.now = time.clock();
      const radius = { ...RADIUS, sessions: { devices: { "10.0.0.0/8": { secret } } } };
      return run(world.desk, changeTarget, { name: "network", radius });
    },
    /** What staff see at the target, and the problem. */
    async shown() {
      world.now = time.clock();
      const { openSessions } = await run(world.desk, showTarget, { name: "network" });
      const { items } = await run(world.desk, listAttention, { environment: "production" });
      return [
        openSessions,
        items
          .filter(({ kind }) => kind === "sessions_open")
          .map(({ subject, text }) => [subject, Number(/change: (\d+),/.exec(text)?.[1])]),
      ];
    },
    async due() {
      const found = await engine.db.selectFrom("sessionDue").selectAll().orderBy("username").execute();
      return found.map(({ username, state, problem }) => [username, state, problem]);
    },
    start() {
      holders += 1;
      let isDead = false;
      const never = new Promise<never>(() => {});
      const mortal = <Port extends object>(port: Port): Port =>
        new Proxy(port, {
          get: (of, name) => {
            const method = of[name as keyof Port] as (...args: unknown[]) => unknown;
            return async (...args: unknown[]) => {
              const result = isDead ? await never : await method.apply(of, args);
              return isDead ? never : result;
            };
          },
        });
      const tools: SessionTools = {
        // As MariaDB compares names.
        open: async (usernames) =>
          rows.filter((row) => usernames.includes(row.username.trimEnd().toLowerCase()) && !row.ended),
        states: async (ids) =>
          ids.map((id) => {
            const { ended, reportedAt } = rows[id - 1] as Row;
            return { id, ended, reportedAt };
          }),
        async end({ id }) {
          asked.push({ id, at: time.clock() });
          return state.answer(rows[id - 1] as Row);
        },
        close: async () => {},
      };
      const worker = startEndingSessions({
        store: { outbox: mortal(outbox), sessionsDue: mortal(sessionsDueOf(engine)) },
        ...{ clock: time.clock, holder: `process ${holders}`, random: (bytes) => new Uint8Array(bytes).fill(128) },
        stopwatch: time.stopwatch,
        sleep: async (ms, signal) => {
          await time.sleep(ms, signal);
          if (isDead) await never;
        },
        createSessionTools: ({ config }) => {
          state.served = config as RadiusConfig;
          return mortal(tools);
        },
        log: (_level, _fields, message) => state.logged.push(message),
        observer: { stepEnded: (_target, ms) => state.stepped.push(ms) },
      });
      onTestFinished(async () => {
        if (!isDead) await time.until(worker.stop(), MINUTE_MS);
      });
      return {
        kill: () => {
          isDead = true;
        },
        stop: () => time.until(worker.stop(), MINUTE_MS),
      };
    },
  };
  return state;
}

const secondsOf = (asked: readonly { readonly at: number }[]) =>
  asked.map(({ at }) => Math.round((at - (asked[0]?.at ?? 0)) / 1000));

describe("the sessions of a user whom a change altered", () => {
  test("are asked for once each, and have ended once radacct says so", async () => {
    const all = await scene();
    all.start();
    all.open("sita");
    all.open("sita", { device: "10.0.0.2" });
    all.open("ram");
    await all.alter(["sita"]);
    await all.time.pass(1_000);
    expect([all.asked.map(({ id }) => id), await all.due()]).toEqual([[1, 2], [["sita", "ended", null]]]);
    await all.time.pass(2 * MINUTE_MS);
    expect(all.asked).toHaveLength(2);
  });

  test("end the change's way: when radacct says so, or at once if none is open", async () => {
    const all = await scene();
    all.start();
    const row = all.open("sita");
    all.answer = async () => "accepted";
    await all.alter(["sita", "ram"], { at: all.time.clock() - 2_000 });
    await all.time.pass(5_000);
    expect(all.stepped).toEqual([]);
    row.ended = true;
    await all.time.pass(MINUTE_MS);
    const [ended, ...others] = all.stepped;
    expect(ended).toBeGreaterThanOrEqual(7_000);
    expect(ended).toBeLessThan(9_000);
    expect(others).toEqual([2_000]);
  });

  test("that appear within ten seconds are ended too, and later ones are not", async () => {
    const all = await scene();
    all.start();
    await all.alter(["sita", "ram"]);
    await all.time.pass(8_000);
    all.open("sita");
    await all.time.pass(4_000);
    all.open("ram");
    all.open("sita");
    await all.time.pass(MINUTE_MS);
    expect(all.asked.map(({ id }) => id)).toEqual([1]);
    expect(await all.due()).toEqual([
      ["ram", "none_open", null],
      ["sita", "ended", null],
    ]);
  });

  test.each([
    ["accepted", "10.0.0.1 accepted, and the session goes on", [0, 61, 126, 216]],
    ["silent", "10.0.0.1: silent", [0, 61, 126, 216]],
    [{ problem: "10.0.0.1: refused, Error-Cause 506" }, "10.0.0.1: refused, Error-Cause 506", [0, 1, 6, 36, 156]],
  ] as const)(
    "of a device that answers %j go on: it is asked again as deliveries are",
    async (answer, words, times) => {
      const all = await scene();
      all.start();
      const row = all.open("sita");
      all.answer = async () => answer;
      await all.alter(["sita"]);
      await all.time.pass(4 * MINUTE_MS);
      expect(await all.due()).toEqual([["sita", "failed", words]]);
      const seconds = secondsOf(all.asked);
      expect(seconds).toHaveLength(times.length);
      for (const [index, second] of seconds.entries()) expect(second - (times[index] ?? 0)).toBeLessThanOrEqual(4);
      row.ended = true;
      await all.time.pass(2_000);
      expect(await all.due()).toEqual([["sita", "ended", null]]);
    },
  );

  test("are asked for with the device's new secret, soon, once staff have replaced the file", async () => {
    const all = await scene();
    all.start();
    const row = all.open("sita");
    all.answer = async () => {
      row.ended = all.served?.sessions?.devices["10.0.0.0/8"]?.secret === "new";
      return row.ended ? "accepted" : "silent";
    };
    await all.alter(["sita"]);
    await all.time.pass(20 * MINUTE_MS);
    expect(await all.due()).toEqual([["sita", "failed", "10.0.0.1: silent"]]);
    await all.changeSecret("new");
    await all.time.pass(5_000);
    expect(await all.due()).toEqual([["sita", "ended", null]]);
  });

  test("that the device does not know are neither ended nor failed, but failed once accounting reports them", async () => {
    const all = await scene();
    all.start();
    const row = all.open("sita", { reportedAt: "09:00" });
    all.answer = async () => "unknown";
    await all.alter(["sita"]);
    await all.time.pass(2 * MINUTE_MS);
    expect([all.asked.length, await all.due()]).toEqual([1, [["sita", "unknown", null]]]);
    row.reportedAt = "09:05";
    await all.time.pass(2_000);
    expect(all.asked).toHaveLength(2);
    const problem = "10.0.0.1 does not know the session, but accounting reports it";
    expect(await all.due()).toEqual([["sita", "failed", problem]]);
    expect(await all.shown()).toEqual([[expect.objectContaining({ problem })], [["network", 1]]]);
    row.ended = true;
    await all.time.pass(2_000);
    expect([await all.due(), await all.shown()]).toEqual([[["sita", "ended", null]], [[], []]]);
  });

  test("are found by a name in other case, and asked for by their own", async () => {
    const all = await scene();
    all.start();
    all.open("maya.rai9", { username: "Maya.Rai9" });
    all.open("ram", { username: "ram " });
    const names: string[] = [];
    const accept = all.answer;
    all.answer = async (row) => {
      names.push(row.username);
      return accept(row);
    };
    await all.alter(["maya.rai9", "ram"]);
    await all.time.pass(2_000);
    expect(names).toEqual(["Maya.Rai9", "ram "]);
    expect((await all.due()).map(([, state]) => state)).toEqual(["ended", "ended"]);
  });

  test("wait for no other user's device", async () => {
    const all = await scene();
    all.start();
    const silent = Array.from({ length: 1_500 }, (_, index) => `silent${index}`);
    for (const username of silent) all.open(username, { device: "10.9.9.9" });
    all.open("sita");
    const accept = all.answer;
    let [open, most] = [0, 0];
    all.answer = async (row) => {
      if (row.device === "10.0.0.1") return accept(row);
      open += 1;
      most = Math.max(most, open);
      await all.time.sleep(7_000);
      open -= 1;
      return "silent";
    };
    await all.alter(silent);
    await all.time.pass(30_000);
    await all.alter(["sita"]);
    await all.time.pass(2_000);
    expect((await all.due()).find(([username]) => username === "sita")).toEqual(["sita", "ended", null]);
    // The others are not noted as asked, so that their time does not begin.
    expect(most).toBe(8);
  });

  test("are ended again for a later change, not for a repeated event, and only after the rows were written", async () => {
    const all = await scene();
    all.start();
    const end = async (changes: Partial<ToldUser>) => {
      all.open("sita");
      await all.alter(["sita"], changes);
      await all.time.pass(12_000);
      return all.asked.length;
    };
    expect(await end({ seq: 5 })).toBe(1);
    expect(await end({ seq: 5 })).toBe(1);
    expect(await end({ seq: 4 })).toBe(1);
    expect(await end({ seq: 6, dueAt: undefined })).toBe(1);
    // An extension replaced the event that failed.
    expect(await end({ seq: 7, alters: false })).toBe(5);
  });

  test("are not asked for again by the process after one that was killed as it asked", async () => {
    const all = await scene();
    const process = all.start();
    const row = all.open("sita");
    all.answer = async () => {
      process.kill();
      return "accepted";
    };
    await all.alter(["sita"]);
    await all.time.pass(1_000);
    all.start();
    await all.time.pass(40_000);
    row.ended = true;
    await all.time.pass(2_000);
    expect([all.asked.length, await all.due()]).toEqual([1, [["sita", "ended", null]]]);
  });

  test("are each ended once, and no user is left, though processes are killed at any time", async () => {
    const all = await scene();
    const random = seededRandom(5);
    const number = (most: number) => Buffer.from(random(4)).readUInt32BE() % most;
    const accept = all.answer;
    all.answer = async (row) => {
      await all.time.sleep(number(3_000));
      return accept(row);
    };
    for (let round = 0; round < 12; round += 1) {
      const process = all.start();
      const names = Array.from({ length: 20 }, (_, index) => `user${round}-${index}`);
      for (const name of names) if (number(5) > 0) all.open(name, { device: `10.0.0.${number(4)}` });
      await all.alter(names);
      await all.time.pass(number(6_000));
      if (number(3) === 0) await process.stop();
      else {
        process.kill();
        await all.time.pass(21_000);
      }
    }
    all.start();
    await all.time.pass(2 * MINUTE_MS);
    const times = new Map<number, number>();
    for (const { id } of all.asked) times.set(id, (times.get(id) ?? 0) + 1);
    expect(all.rows.filter(({ ended }) => !ended)).toEqual([]);
    expect((await all.due()).filter(([, state]) => state !== "ended" && state !== "none_open")).toEqual([]);
    expect([...times.values()].filter((count) => count > 1)).toEqual([]);
    expect(all.logged).toEqual([]);
  });
});
