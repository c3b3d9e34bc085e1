import { expect, test } from "vitest";
import { TurnWrites } from "../../src/http/turn-writes.ts";

const turnEnd = () => new Promise((resolve) => setImmediate(resolve));

test("what is ready in one turn is written at its end, in order, and nothing twice", async () => {
  const writes = new TurnWrites();
  const written: string[] = [];
  for (const name of ["a", "b", "c"]) writes.hold(() => written.push(name));
  expect(written).toEqual([]);
  await turnEnd();
  expect(written).toEqual(["a", "b", "c"]);
  writes.hold(() => written.push("d"));
  await turnEnd();
  await turnEnd();
  expect(written).toEqual(["a", "b", "c", "d"]);
});

test("what becomes ready while others are written waits for the next turn", async () => {
  const writes = new TurnWrites();
  const written: string[] = [];
  writes.hold(() => {
    written.push("first");
    writes.hold(() => written.push("second"));
  });
  await turnEnd();
  expect(written).toEqual(["first"]);
  await turnEnd();
  expect(written).toEqual(["first", "second"]);
});
