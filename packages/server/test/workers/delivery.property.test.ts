import fc from "fast-check";
import { expect, test } from "vitest";
import { deliveryScene, fail } from "../support/delivery-scene.ts";

/** What happens to a target, its receiver and the processes that deliver to it. */
const incident = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("events" as const), count: fc.integer({ min: 1, max: 60 }) }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      { kind: "kill" as const },
      { kind: "stop" as const },
      { kind: "store_fails" as const },
      { kind: "away" as const },
      { kind: "back" as const },
      { kind: "flaky" as const },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 100, max: 40_000 }) }),
  },
);

test.each([{ billing: false }, { billing: true }])(
  "whatever fails and whoever is killed, each connection's last event arrives last, and billing (%j) gets all",
  async (target) => {
    await fc.assert(
      fc.asyncProperty(fc.array(incident, { minLength: 5, maxLength: 25 }), async (incidents) => {
        const scene = deliveryScene(target);
        const { time, outbox } = scene;
        let mood: "fine" | "flaky" | "away" = "fine";
        /** What the receiver has, by customer, in the order in which it took them; a new run begins with each process. */
        const taken = new Map<string, { readonly seq: number; readonly run: number }[]>();
        let run = 0;
        scene.answer = async ({ seq, key }) => {
          await time.sleep((seq * 7919) % 300);
          if (mood === "away" || (mood === "flaky" && (seq * 31 + time.clock()) % 3 === 0)) fail();
          taken.set(key.cuid, [...(taken.get(key.cuid) ?? []), { seq, run }]);
        };
        let process = scene.start();
        const next = () => {
          run += 1;
          process = scene.start();
        };
        for (const each of incidents) {
          if (each.kind === "events") for (let index = 0; index < each.count; index += 1) scene.add(`c${index % 7}`);
          if (each.kind === "pass") await time.pass(each.ms);
          if (each.kind === "away" || each.kind === "flaky") mood = each.kind;
          if (each.kind === "back") mood = "fine";
          if (each.kind === "store_fails") {
            outbox.isAway = true;
            await time.pass(2_000);
            outbox.isAway = false;
            // It begins again from what was saved.
            run += 1;
          }
          if (each.kind === "kill") {
            process.kill();
            next();
          }
          if (each.kind === "stop") {
            await process.stop();
            next();
          }
        }
        mood = "fine";
        await time.pass(12 * 60_000);
        for (const { seq, key } of outbox.events) {
          const mine = taken.get(key.cuid) ?? [];
          const last = Math.max(...outbox.events.filter((other) => other.key.cuid === key.cuid).map((one) => one.seq));
          expect(mine.at(-1)?.seq).toBe(last);
          if (target.billing === true) expect(mine.map((one) => one.seq)).toContain(seq);
        }
        for (const mine of taken.values())
          for (const [index, { seq, run }] of mine.entries()) {
            const before = mine[index - 1];
            // Only a process that goes on after another begins with what was taken already.
            if (before !== undefined && before.run === run) expect(seq).toBeGreaterThan(before.seq);
          }
        expect(outbox.deliveries.size).toBe(0);
        await process.stop();
      }),
      { seed: 20_261_120, numRuns: 8 },
    );
  },
);
