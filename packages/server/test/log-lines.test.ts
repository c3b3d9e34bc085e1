import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLogger } from "../src/log.ts";
import { gatherLines } from "../src/log-lines.ts";

describe("log lines that are gathered", () => {
  const writes: string[] = [];
  const logger = () => createLogger("debug", gatherLines({ write: (text) => writes.push(text) }, 64 * 1024));
  const routes = (text = "") =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).route);

  beforeEach(() => {
    vi.useFakeTimers();
    writes.length = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("go on together, in order, after a moment", () => {
    const log = logger();
    log.info({ route: "one" }, "request");
    log.debug({ route: "two" }, "request");
    expect(writes).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(writes.map(routes)).toEqual([["one", "two"]]);
    vi.advanceTimersByTime(1000);
    log.info({ route: "three" }, "request");
    vi.advanceTimersByTime(100);
    expect(writes.map(routes)).toEqual([["one", "two"], ["three"]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("go on in order with those that are held without a look at them", () => {
    const lines = gatherLines({ write: (text) => writes.push(text) }, 64 * 1024);
    const log = createLogger("debug", lines);
    log.info({ route: "one" }, "request");
    lines.hold('{"route":"two"}\n');
    log.info({ route: "three" }, "request");
    expect(writes).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(writes.map(routes)).toEqual([["one", "two", "three"]]);
  });

  test("wait no longer once there is a warning or an error", () => {
    const log = logger();
    log.info({ route: "one" }, "request");
    log.warn({ route: "two" }, "request");
    expect(writes.map(routes)).toEqual([["one"], ["two"]]);
    log.error({ route: "three" }, "request");
    expect(writes.map(routes)).toEqual([["one"], ["two"], ["three"]]);
    log.info({ route: "four" }, "request");
    vi.advanceTimersByTime(100);
    expect(writes.map(routes)).toEqual([["one"], ["two"], ["three"], ["four"]]);
  });

  test("wait no longer once they are many", () => {
    const log = logger();
    const text = "x".repeat(30_000);
    log.info({ route: text }, "request");
    log.info({ route: text }, "request");
    expect(writes).toEqual([]);
    log.info({ route: text }, "request");
    expect(writes.map((written) => routes(written).length)).toEqual([2]);
    vi.advanceTimersByTime(100);
    expect(writes.map((written) => routes(written).length)).toEqual([2, 1]);
  });
});
