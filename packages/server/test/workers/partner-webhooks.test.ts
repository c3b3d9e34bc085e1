import { expect, test } from "vitest";
import { untried } from "../../src/domain/target.ts";
import { deliveryScene, fail } from "../support/delivery-scene.ts";
import { targetWith } from "../support/memory-outbox.ts";

const PARTNER = { partnerId: 1, environment: "production" } as const;

/** Webhooks of partners, and what they ask of the store. */
function sceneOf(webhooks: number) {
  const scene = deliveryScene({ partner: PARTNER });
  const { outbox } = scene;
  outbox.targetList = Array.from({ length: webhooks }, (_, index) => targetWith({ id: index + 1, partner: PARTNER }));
  const asked = { hold: 0, eventsAfter: 0, lastEvent: 0 };
  for (const name of Object.keys(asked) as (keyof typeof asked)[]) {
    const ask = outbox[name].bind(outbox) as (...given: unknown[]) => Promise<never>;
    Object.assign(outbox, {
      [name]: (...given: unknown[]) => {
        asked[name] += 1;
        return ask(...given);
      },
    });
  }
  return { ...scene, asked };
}

test("three hundred webhooks without news ask the store as often as one", async () => {
  const { asked, start, time } = sceneOf(300);
  start();
  await time.pass(10_000);
  expect(asked.eventsAfter).toBe(300);
  expect(asked.hold).toBeLessThan(6);
  expect(asked.lastEvent).toBeLessThan(50);
});

test("each gets a new fact within half a second", async () => {
  const { add, start, time, seqs, timesOf } = sceneOf(1);
  start();
  for (let round = 0; round < 20; round += 1) {
    await time.pass(700 + round * 13);
    const [seq = 0] = add("c1");
    const at = time.clock();
    await time.pass(510);
    expect(timesOf(seq).length, `after ${at}`).toBe(1);
  }
  expect(seqs()).toHaveLength(20);
});

test("a process whose lease another one took begins from what that one saved", async () => {
  const { outbox, add, start, time, seqs } = sceneOf(1);
  const process = start();
  await time.pass(1_000);
  add("c1");
  await time.pass(6_000);
  outbox.leases.set("partners", { holder: "other", until: time.clock() + 30_000 });
  await time.pass(10_000);
  add("c1", "c2");
  await time.pass(10_000);
  expect(seqs()).toEqual([1]);
  // The other process has delivered the first of them.
  outbox.places.set(1, 2);
  await time.pass(15_000);
  expect(seqs()).toEqual([1, 3]);
  await process.stop();
  expect(outbox.leases.has("partners")).toBe(false);
});

test("while a thousand connections fail, new facts stay in the store, and all arrive in the end", async () => {
  const scene = deliveryScene({ partner: PARTNER });
  const { outbox, add, start, time, seqs } = scene;
  const failed = add(...Array.from({ length: 1_000 }, (_, index) => `c${index}`));
  const at = time.clock();
  for (const seq of failed)
    outbox.deliveries.set(seq, { ...untried(seq, at + 3_600_000), attempts: 9, failedAt: at, problem: "status 500" });
  outbox.places.set(1, failed.length);
  scene.answer = async () => fail();
  start();
  const [fresh = 0] = add("new");
  await time.pass(60_000);
  expect(seqs()).not.toContain(fresh);
  expect(seqs().length).toBeGreaterThan(0);
  scene.answer = async () => {};
  await time.pass(120_000);
  expect(new Set(seqs()).size).toBe(1_001);
});
