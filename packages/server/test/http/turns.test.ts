import { expect, test } from "vitest";
import { Turns } from "../../src/partner/extension/turns.ts";

test("a partner has one turn at a time, 10 at most, and the next also after a failure; another does not wait", async () => {
  const turns = new Turns();
  const ends: ((error?: Error) => void)[] = [];
  const work = () =>
    new Promise<string>((resolve, reject) =>
      ends.push((error) => (error === undefined ? resolve("done") : reject(error))),
    );
  const all = Array.from({ length: 10 }, () => turns.take(1, work));
  expect(turns.take(1, work)).toBeUndefined();
  void turns.take(2, work);
  await expect.poll(() => ends.length).toBe(2);
  ends[0]?.(new Error("failed"));
  await expect(all[0]).rejects.toThrow("failed");
  await expect.poll(() => ends.length).toBe(3);
  ends[2]?.();
  expect(await all[1]).toBe("done");
  await expect.poll(() => ends.length).toBe(4);
  expect(turns.take(1, work)).toBeDefined();
});
