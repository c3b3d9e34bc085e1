import { expect, test } from "vitest";
import type { EventState } from "../../src/domain/event.ts";
import { readRadiusConfig } from "../../src/domain/radius.ts";
import { asJson } from "../domain/builders.ts";
import { deliveryScene, fail } from "../support/delivery-scene.ts";
import { keyOf } from "../support/memory-outbox.ts";

const WAS = { blocked: true, served: false, plan: undefined };
const STATE: EventState = { blocked: false, subscriptions: [], was: WAS };

function scene() {
  const sessions = { waitSeconds: 2, devices: { "10.0.0.1": { secret: "s" } } };
  const file = { database: "mysql://r@10.0.0.9/radius", timeZone: "UTC", groups: {}, sessions };
  const read = readRadiusConfig(asJson(file), "internet");
  if (!read.ok) throw new Error("the test's own file is wrong");
  const all = deliveryScene({ config: read.value });
  const add = (cuid: string, state?: EventState) =>
    all.outbox.add({ kind: "subscription.changed", at: all.time.clock(), key: keyOf(cuid), ...(state && { state }) });
  const told = () =>
    all.outbox.calls.saveProgress.flatMap(({ users = [] }) =>
      users.map(({ seq, alters, dueAt }) => [seq, alters, dueAt !== undefined]),
    );
  return { ...all, all, add, told };
}

test("sessions are due once the rows are written, soon, and after the wait", async () => {
  const { all, add, told, time, start } = scene();
  start();
  add("c1");
  add("c2", STATE);
  await time.pass(600);
  expect(told()).toEqual([
    [1, false, true],
    [2, true, true],
  ]);
  // The way of the other ends with the sessions.
  expect(all.stepped).toHaveLength(1);
  expect(all.outbox.calls.saveProgress[0]?.users?.[1]?.dueAt).toBeGreaterThanOrEqual(time.clock() + 1_400);
});

test("a failed event alters, though another replaces it before anything is saved, and though none was tried", async () => {
  const { all, add, told, time, start } = scene();
  all.answer = async ({ seq }) => {
    if (seq === 1) fail();
  };
  const process = start();
  add("c1", STATE);
  await time.pass(300);
  add("c1");
  await time.pass(2_000);
  expect(told()).toEqual([
    [1, true, false],
    [2, false, true],
  ]);
  all.answer = () => new Promise(() => {});
  add("c2", STATE);
  await time.pass(300);
  await process.stop();
  expect(told().slice(2)).toEqual([[3, true, false]]);
});
