import { expect, test } from "vitest";
import { paidTime } from "../../campaign/paid-time.ts";

// The long form is `npm run campaign -- paid-time --seed N --rounds N`.
test("a customer is served for just the time that was paid for or given, whatever files are imported in between", () => {
  const [told, undecided] = (paidTime({ seed: 20_261_122, rounds: 150 }).match(/\d+/g) ?? []).map(Number);
  expect(told).toBeGreaterThanOrEqual(4_400);
  expect(undecided).toBeLessThan(1_450);
}, 180_000);
