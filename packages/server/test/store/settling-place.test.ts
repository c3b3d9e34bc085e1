import { expect, test } from "vitest";
import type { SettlingItem } from "../../src/store/common/settling.ts";
import { settleHereOrThere } from "../../src/store/sqlite/settling/settling-place.ts";

const ITEM: SettlingItem = { kind: "conclusion", checkoutId: "x" };

/** Says where each batch went. A commit here takes as long as the test has it take. */
function places() {
  const self = { now: 1_000, hereTakes: 0, fails: false };
  const settle = settleHereOrThere(
    async () => {
      self.now += self.hereTakes;
      if (self.fails) throw new Error("here");
      return ["pruned"];
    },
    async () => [undefined],
    () => self.now,
  );
  const place = async (items: number) => {
    const [settled] = await settle(Array.from({ length: items }, () => ITEM));
    return settled === "pruned" ? "here" : "there";
  };
  return { self, place, settle };
}

test("what comes alone is settled here, and several in the thread", async () => {
  const { place } = places();
  expect([await place(1), await place(2), await place(1), await place(256)]).toEqual([
    "here",
    "there",
    "here",
    "there",
  ]);
});

test("one slow commit is no reason to go to the thread", async () => {
  const { self, place } = places();
  for (let round = 0; round < 5; round += 1) {
    self.hereTakes = 90;
    expect(await place(1)).toBe("here");
    self.hereTakes = 2;
    expect(await place(1)).toBe("here");
  }
});

test.each([false, true])(
  "where the disk is slow, everything goes to the thread, until it is tried again (%s)",
  async (fails) => {
    const { self, place, settle } = places();
    self.hereTakes = 3;
    self.fails = fails;
    for (let slow = 0; slow < 2; slow += 1) {
      if (fails) await expect(settle([ITEM])).rejects.toThrow("here");
      else expect(await place(1)).toBe("here");
    }
    for (let batch = 0; batch < 500; batch += 1) expect(await place(1)).toBe("there");
    self.fails = false;
    expect(await place(1)).toBe("here");
  },
);
