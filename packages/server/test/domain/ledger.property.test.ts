import { expect, test } from "vitest";
import { runGoodwillHistories } from "../../campaign/goodwill-files.ts";
import { runLedgerHistories } from "../../campaign/paid-time.ts";

/** A fixed seed, so that a failing history fails again. The campaign runs any number of histories. */
const [SEED, ROUNDS] = [20_261_123, 800];

test("whatever is sold, topped up, given, reversed, imported and let go: the end is what both books come to", () => {
  const seen = runLedgerHistories(SEED, ROUNDS);
  expect(seen.entries).toBeGreaterThan(8 * ROUNDS);
  expect(seen.files).toBeGreaterThan(5 * ROUNDS);
  expect(seen.compared).toBeGreaterThan(6 * ROUNDS);
  expect(seen.heldBack).toBeGreaterThan(ROUNDS / 20);
  expect(seen.pruned).toBeGreaterThan(ROUNDS / 2);
  expect(seen.inclusive).toBeGreaterThan(ROUNDS);
  expect(seen.unbooked).toBeGreaterThan(ROUNDS / 100);
});

test("no honest file gives goodwill twice or takes it, and what topupd exports comes back unchanged", () => {
  const seen = runGoodwillHistories(SEED, ROUNDS);
  expect(seen.files).toBeGreaterThan(2 * ROUNDS);
  expect(seen.exports).toBeGreaterThan(6 * ROUNDS);
});
