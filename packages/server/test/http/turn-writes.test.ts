import { expect, test } from "vitest";
import { TurnWrites } from "../../src/http/reception.ts";

const never = (error: unknown) => {
  throw error;
};
const turnEnd = () => new Promise((resolve) => setImmediate(resolve));

test("what is ready in one turn is written at its end, in order, and nothing twice", async () => {
  const writes = new TurnWrites();
  const written: string[] = [];
  for (const name of ["a", "b", "c"]) writes.hold(() => written.push(name), never);
  expect(written).toEqual([]);
  await turnEnd();
  expect(written).toEqual(["a", "b", "c"]);
  writes.hold(() => written.push("d"), never);
  await turnEnd();
  await turnEnd();
  expect(written).toEqual(["a", "b", "c", "d"]);
});

test("an answer that cannot be written keeps no other from going out", async () => {
  const writes = new TurnWrites();
  const written: string[] = [];
  const broken = () => {
    throw new Error("broken");
  };
  writes.hold(() => written.push("before"), never);
  writes.hold(broken, (error) => written.push(String(error)));
  writes.hold(() => written.push("after"), never);
  await turnEnd();
  expect(written).toEqual(["before", "Error: broken", "after"]);
});
