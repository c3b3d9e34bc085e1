import { expect, onTestFinished, test } from "vitest";
import { DeliveryFailed, type Target } from "../../src/domain/target.ts";
import type { BegunDue, EndedAttempts, Portion } from "../../src/store/due.ts";
import { startDeliveringDue } from "../../src/workers/deliver-due.ts";
import { MemoryOutbox, targetWith } from "../support/memory-outbox.ts";
import { VirtualTime } from "../support/virtual-time.ts";

const START = Date.parse("2026-11-23T09:00:00Z");

/** Targets with rows of `due` in memory, and processes that deliver them. */
function scene(...targets: Target[]) {
  const time = new VirtualTime(START);
  const outbox = new MemoryOutbox();
  outbox.targetList = targets;
  const open = new Map<number, string[]>();
  const sent: string[] = [];
  const logged: string[] = [];
  const asked = { due: 0, targets: 0 };
  const readTargets = outbox.targets.bind(outbox);
  outbox.targets = () => {
    asked.targets += 1;
    return readTargets();
  };
  const all = {
    ...{ time, outbox, open, sent, logged, asked },
    tellers: { made: [] as string[], closed: 0 },
    prepare: (_target: Target): void => {},
    answer: async (_target: Target): Promise<void> => {},
    add: (id: number, ...subjects: string[]) => open.set(id, [...(open.get(id) ?? []), ...subjects]),
    start,
  };
  const due = {
    async targetsDue() {
      asked.due += 1;
      const isPaused = (id: number) => outbox.targetList.find((each) => each.id === id)?.paused === true;
      return [...open].flatMap(([id, rows]) => (rows.length > 0 && !isPaused(id) ? [id] : []));
    },
    async begin({ targetId, busy }: Portion) {
      const subjects = (open.get(targetId) ?? []).filter((subject) => !busy.has(subject));
      return subjects.map((subject) => ({ subject, targetId, attempts: 0 }) as unknown as BegunDue);
    },
    async recordAttempts({ targetId, ended }: EndedAttempts) {
      const done = new Set(ended.flatMap(({ due: { subject }, end }) => (end.ok ? [subject] : [])));
      open.set(
        targetId,
        (open.get(targetId) ?? []).filter((subject) => !done.has(subject)),
      );
      return true;
    },
    retryAll: async () => {},
    forget: async () => 0,
  };

  function start(holder = "p0") {
    const worker = startDeliveringDue({
      ...{ store: { outbox, due }, clock: time.clock, stopwatch: time.stopwatch, sleep: time.sleep, holder },
      random: () => new Uint8Array([7]),
      log: (_level, fields, message) => logged.push(`${message}: ${JSON.stringify(fields["target"])}`),
      createTeller(target) {
        all.tellers.made.push(target.name);
        return {
          async prepare(begun) {
            all.prepare(target);
            return begun.map((each) => ({
              due: each,
              async send() {
                await all.answer(target);
                sent.push(`${target.name} ${each.subject}`);
                return { waits: false };
              },
            }));
          },
          async close() {
            all.tellers.closed += 1;
          },
        };
      },
    });
    onTestFinished(() => time.until(worker.stop(), 60_000).then(() => {}));
    return worker;
  }
  return all;
}

const [ONE, TWO] = [targetWith({ id: 1, name: "one" }), targetWith({ id: 2, name: "two" })];

test("an error at one target stops no other, and that one begins again", async () => {
  const all = scene(ONE, TWO);
  let isBroken = true;
  all.prepare = ({ name }) => {
    if (name === "one" && isBroken) throw new Error("no such row");
  };
  all.add(1, "a");
  all.add(2, "b");
  all.start();
  await all.time.pass(3_000);
  expect(all.sent).toEqual(["two b"]);
  expect(all.logged).toEqual([`the delivery to the target begins again: "one"`]);
  isBroken = false;
  await all.time.pass(3_000);
  expect(all.sent).toEqual(["two b", "one a"]);
});

test("five hundred targets without news cost one query each look, and a new fact arrives within half a second", async () => {
  const all = scene(...Array.from({ length: 500 }, (_, index) => targetWith({ id: index + 1, name: `t${index + 1}` })));
  all.start();
  await all.time.pass(60_000);
  expect(all.asked.due).toBeLessThan(260);
  expect([all.asked.targets, all.tellers.made]).toEqual([0, []]);
  all.add(77, "a");
  await all.time.pass(500);
  expect(all.sent).toEqual(["t77 a"]);
  await all.time.pass(5_000);
  expect(all.tellers.closed).toBe(1);
});

test("a paused target waits, and a changed one begins anew with its new settings", async () => {
  const all = scene({ ...ONE, paused: true }, TWO);
  all.add(1, "a");
  all.answer = async () => {
    throw new DeliveryFailed("status 500", { isAnswer: true });
  };
  all.add(2, "b");
  all.start();
  await all.time.pass(5_000);
  expect(all.tellers.made).toEqual(["two"]);
  all.answer = async () => {};
  all.outbox.targetList = [ONE, { ...TWO, secrets: [] }];
  await all.time.pass(5_000);
  expect(all.tellers.made).toEqual(["two", "one", "two"]);
  expect(all.sent.toSorted()).toEqual(["one a", "two b"]);
});

test("one process delivers, and another goes on within seconds after its stop", async () => {
  const all = scene(ONE);
  const first = all.start("p0");
  await all.time.pass(1_000);
  all.start("p1");
  all.add(1, "a");
  await all.time.pass(2_000);
  expect(all.sent).toEqual(["one a"]);
  await all.time.until(first.stop(), 10_000);
  all.add(1, "b");
  await all.time.pass(1_500);
  expect(all.sent).toEqual(["one a", "one b"]);
});
