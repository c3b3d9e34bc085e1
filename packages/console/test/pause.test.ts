import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PAUSE_MS, Pause } from "../src/counter/pause.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("a press counts after a pause, which each press begins anew", () => {
  const pause = new Pause();
  const presses = [0, PAUSE_MS - 1, PAUSE_MS - 1, PAUSE_MS, 0, PAUSE_MS - 1, PAUSE_MS];
  const counts = presses.map((ms) => {
    vi.advanceTimersByTime(ms);
    return pause.restart();
  });
  expect(counts).toEqual([false, false, false, true, false, false, true]);
});
