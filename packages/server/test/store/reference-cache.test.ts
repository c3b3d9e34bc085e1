import { expect, test } from "vitest";
import { ReferenceCache } from "../../src/store/reference-cache.ts";

test("a value is loaded once, and again after it was forgotten", async () => {
  const cache = new ReferenceCache(() => true);
  const loads: string[] = [];
  const load = (key: string) => async () => loads.push(key);
  for (const key of ["a", "b", "a", "b"]) await cache.recall(key, load(key));
  expect(loads).toEqual(["a", "b"]);
  cache.forget();
  await cache.recall("a", load("a"));
  expect(loads).toEqual(["a", "b", "a"]);
});

test("a value that was read before a change is answered, and not kept after it", async () => {
  const cache = new ReferenceCache(() => true);
  let stored = "valid";
  let read = () => {};
  const reading = new Promise<void>((resolve) => {
    read = resolve;
  });
  const slow = cache.recall("token", async () => {
    const value = stored;
    await reading;
    return value;
  });
  stored = "revoked";
  cache.forget();
  read();
  expect(await slow).toBe("valid");
  expect(await cache.recall("token", async () => stored)).toBe("revoked");
});

test("nothing is kept while the cache is not current, and of nothing there is no memory", async () => {
  let isCurrent = false;
  const cache = new ReferenceCache(() => isCurrent);
  let count = 0;
  const load = async () => {
    count += 1;
    return count;
  };
  expect([await cache.recall("a", load), await cache.recall("a", load)]).toEqual([1, 2]);
  isCurrent = true;
  expect([await cache.recall("a", load), await cache.recall("a", load)]).toEqual([3, 3]);
  expect(await cache.recall("none", async () => undefined)).toBeUndefined();
  expect(await cache.recall("none", load)).toBe(4);
});

test("the oldest value goes when there are too many", () => {
  const cache = new ReferenceCache(() => true, 2);
  const loads: string[] = [];
  for (const key of ["a", "b", "c", "b", "a"]) cache.recall(key, () => loads.push(key));
  expect(loads).toEqual(["a", "b", "c", "a"]);
});
