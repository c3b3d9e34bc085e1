import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { logUnauthenticated } from "../../src/system/log.ts";

describe("requests without a valid token", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("get one line a second: the first its own, those that follow a count of each outcome", () => {
    const lines: string[] = [];
    const log = logUnauthenticated(
      () => 0,
      (line) => lines.push(line),
    );
    for (let index = 0; index < 1_000; index += 1)
      log(() => `line ${index}\n`, index % 10 === 1 ? "missing_token" : "unknown_token");
    expect(lines).toEqual(["line 0\n"]);
    vi.advanceTimersByTime(1_000);
    const line = { level: "info", time: "1970-01-01T00:00:00.000Z", msg: "more requests without a valid token" };
    expect(JSON.parse(lines[1] ?? "")).toEqual({
      ...line,
      count: 999,
      outcomes: "missing_token 100, unknown_token 899",
    });
    log(() => "not written\n", "missing_token");
    vi.advanceTimersByTime(1_000);
    expect(JSON.parse(lines[2] ?? "")).toMatchObject({ count: 1, outcomes: "missing_token 1" });
    vi.advanceTimersByTime(1_000);
    log(() => "line by itself\n", "missing_token");
    expect(lines.slice(3)).toEqual(["line by itself\n"]);
  });
});
