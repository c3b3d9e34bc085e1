import { expect, test } from "vitest";
import { poolRandom } from "../../src/system/random-pool.ts";

/** A source in which every four bytes are another number. */
function counting() {
  const draws: number[] = [];
  let next = 0;
  const draw = (bytes: number) => {
    draws.push(bytes);
    const drawn = Buffer.alloc(bytes);
    for (let at = 0; at + 4 <= bytes; at += 4) drawn.writeUInt32BE(next++, at);
    return drawn;
  };
  return { draw, draws };
}

test("pooled randomness is handed out once, as long as was asked for, and drawn seldom", () => {
  const { draw, draws } = counting();
  const random = poolRandom(draw);
  const seen = new Set<string>();
  for (let turn = 0; turn < 4_000; turn += 1) {
    const length = [8, 16, 12, 32][turn % 4] as number;
    const bytes = random(length);
    expect(bytes).toHaveLength(length);
    for (let at = 0; at < length; at += 4) seen.add(Buffer.from(bytes.subarray(at, at + 4)).toString("hex"));
  }
  expect(seen.size).toBe((4_000 / 4) * (2 + 4 + 3 + 8));
  expect(draws.length).toBeLessThan(20);
});

test("more than the pool holds is drawn by itself", () => {
  const { draw, draws } = counting();
  expect(poolRandom(draw)(10_000)).toHaveLength(10_000);
  expect(draws).toEqual([10_000]);
});
