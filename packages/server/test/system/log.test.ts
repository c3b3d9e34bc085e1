import { PassThrough } from "node:stream";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { StatementFailed } from "../../src/store/postgres/error-translation.ts";
import { gatherLines, logUnauthenticated, relayLines } from "../../src/system/log.ts";
import { createLogger } from "../../src/system/logger.ts";

const SECRET = "9841000000";

function logged(log: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const logger = createLogger("debug", { write: (line) => lines.push(line) });
  logger.level = "trace";
  log(logger);
  expect(lines.join("")).not.toContain(SECRET);
  return lines.map((line) => JSON.parse(line));
}

describe("a line of the log", () => {
  test("has the listed fields, and drops all others", () => {
    const [line] = logged((logger) => {
      const fields = { requestId: "r1", cause: "the disk is full", ms: 1.5, status: { inner: SECRET } };
      logger.warn({ ...fields, token: SECRET, mobile: SECRET, err: { message: SECRET } }, "the store is unavailable");
    });
    expect(line).toEqual({
      level: "warn",
      time: expect.any(String),
      requestId: "r1",
      cause: "the disk is full",
      ms: 1.5,
      msg: "the store is unavailable",
    });
  });

  test("tells of an error what it is, its code and where it was, and of its causes likewise", () => {
    const cause = Object.assign(new RangeError(SECRET), { code: "ERR_OUT_OF_RANGE", input: SECRET });
    const error = Object.assign(new TypeError(`no ${SECRET}\n    at src/${SECRET}.ts:1:1`, { cause }), {
      errcode: 2067,
      code: SECRET,
      detail: `Key (mobile)=(${SECRET})`,
    });
    const [line] = logged((logger) => logger.error({ err: error }, "a request failed"));
    const at = expect.arrayContaining([expect.stringMatching(/^test\/system\/log\.test\.ts:\d+:\d+$/)]);
    expect(line?.["err"]).toEqual({
      type: "TypeError",
      errcode: 2067,
      at,
      cause: { type: "RangeError", code: "ERR_OUT_OF_RANGE", at },
    });
  });

  test("tells the words of an error that promises to be discreet", () => {
    const original = Object.assign(new pg.DatabaseError(`Key (code)=(${SECRET}) exists`, 0, "error"), {
      code: "23505",
      table: "lookup_code",
      constraint: "lookup_code_pkey",
      detail: SECRET,
    });
    const [line] = logged((logger) => logger.error({ err: new StatementFailed(original) }, "a request failed"));
    expect(line?.["err"]).toMatchObject({
      type: "StatementFailed",
      message: "PostgreSQL refused a statement with 23505 (lookup_code, lookup_code_pkey)",
      code: "23505",
    });
  });

  test("survives errors that are hardly any, and that cause each other", () => {
    const ring = new Error(SECRET);
    ring.cause = ring;
    const bare = Object.setPrototypeOf(new Error(SECRET), Error.prototype);
    expect(logged((logger) => logger.error({ err: ring }, "a request failed"))).toHaveLength(1);
    expect(logged((logger) => logger.error({ err: bare }, "a request failed"))).toHaveLength(1);
  });
});

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

test("lines of a child process are handed on whole, however they are cut up", async () => {
  const child = new PassThrough();
  const written: string[] = [];
  relayLines(child, (lines) => written.push(lines));
  for (const piece of ["one\ntw", "o", "\nthree\nfour\n", "cut off"]) child.write(piece);
  child.end();
  await vi.waitFor(() => expect(written).toEqual(["one\n", "two\nthree\nfour\n", "cut off\n"]));
});

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
