import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLogger } from "../src/log.ts";
import { gatherLines } from "../src/log-lines.ts";

describe("log lines that are gathered", () => {
  const writes: string[] = [];
  const logger = () => createLogger("debug", gatherLines({ write: (text) => writes.push(text) }));
  const messages = (text = "") =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).msg);

  beforeEach(() => {
    vi.useFakeTimers();
    writes.length = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("go on together, in order, after a moment", () => {
    const log = logger();
    log.info("one");
    log.debug("two");
    expect(writes).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(writes.map(messages)).toEqual([["one", "two"]]);
    vi.advanceTimersByTime(1000);
    log.info("three");
    vi.advanceTimersByTime(100);
    expect(writes.map(messages)).toEqual([["one", "two"], ["three"]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("wait no longer once there is a warning or an error", () => {
    const log = logger();
    log.info("one");
    log.warn("two");
    expect(writes.map(messages)).toEqual([["one"], ["two"]]);
    log.error("three");
    expect(writes.map(messages)).toEqual([["one"], ["two"], ["three"]]);
    log.info("four");
    vi.advanceTimersByTime(100);
    expect(writes.map(messages)).toEqual([["one"], ["two"], ["three"], ["four"]]);
  });

  test("wait no longer once they are many", () => {
    const log = logger();
    const text = "x".repeat(30_000);
    log.info(text);
    log.info(text);
    expect(writes).toEqual([]);
    log.info(text);
    expect(writes.map((written) => messages(written).length)).toEqual([3]);
  });
});
