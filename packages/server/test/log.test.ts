import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { createLogger } from "../src/log.ts";
import { StatementFailed } from "../src/store/postgres/session/trouble.ts";

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
  test("has the listed fields, and drops all others, wherever they come from", () => {
    const [line] = logged((logger) => {
      const child = logger.child({ requestId: "r1", token: SECRET });
      child.warn({ cause: "the disk is full", mobile: SECRET, cuid: SECRET, ms: 1.5 }, "the store is away");
    });
    expect(line).toEqual({
      level: "warn",
      time: expect.any(String),
      requestId: "r1",
      cause: "the disk is full",
      ms: 1.5,
      msg: "the store is away",
    });
  });

  test("drops a listed field that holds more than one value", () => {
    const [line] = logged((logger) => logger.warn({ cause: { mobile: SECRET }, url: [SECRET] }, "the store is away"));
    expect(Object.keys(line ?? {})).toEqual(["level", "time", "msg"]);
  });

  test.each([
    ["a text", (logger) => logger.warn(`Reply was already sent in "/${SECRET}"`)],
    ["a text with what goes into it", (logger) => logger.warn("Route %s not found", `/${SECRET}`)],
    ["fields and a text", (logger) => logger.info({ status: 404 }, `GET /${SECRET}`)],
    ["an error", (logger) => logger.error(new Error(SECRET))],
    ["an error and its text", (logger) => logger.error(new Error(SECRET), SECRET)],
    ["an error in a field", (logger) => logger.warn({ err: new Error(SECRET) })],
    ["what is no error in the error's field", (logger) => logger.warn({ err: { message: SECRET } })],
    ["nothing", (logger) => logger.info(undefined)],
    ["null", (logger) => logger.info(null)],
  ] as readonly (readonly [string, (logger: ReturnType<typeof createLogger>) => void])[])(
    "tells that a library spoke, and not what it said: %s",
    (_what, log) => {
      expect(logged(log)).toEqual([expect.objectContaining({ msg: "a library has said something" })]);
    },
  );

  test("tells of an error what it is, its code and where it was, and of its causes likewise", () => {
    const cause = Object.assign(new RangeError(SECRET), { code: "ERR_OUT_OF_RANGE", input: SECRET });
    const error = Object.assign(new TypeError(`no ${SECRET}\n    at src/${SECRET}.ts:1:1`, { cause }), {
      errcode: 2067,
      code: SECRET,
      detail: `Key (mobile)=(${SECRET})`,
    });
    const [line] = logged((logger) => logger.error({ err: error }, "a request failed"));
    const at = expect.arrayContaining([expect.stringMatching(/^test\/log\.test\.ts:\d+:\d+$/)]);
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
    for (const stack of [undefined, "", SECRET]) {
      const err = Object.assign(new Error(SECRET), { stack, constructor: undefined });
      expect(logged((logger) => logger.error({ err }, "a request failed"))).toHaveLength(1);
    }
    expect(logged((logger) => logger.error({ err: ring }, "a request failed"))).toHaveLength(1);
    expect(logged((logger) => logger.error({ err: bare }, "a request failed"))).toHaveLength(1);
  });
});

test("every message that topupd logs is on the list of its messages", () => {
  const source = fileURLToPath(new URL("../src/", import.meta.url));
  const messages = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(source, path), "utf8"))
    .flatMap((text) => [...text.matchAll(/\b(?:log|logger)\.(?:debug|info|warn|error)\(([^;]*?)\)(?:;|\))/g)])
    .map(([call, inside = ""]) => /"([^"]+)"$/.exec(inside)?.[1] ?? call);
  expect(messages.length).toBeGreaterThan(10);
  const told = logged((logger) => {
    for (const message of messages) logger.info(message);
  });
  expect(told.map(({ msg }) => msg)).toEqual(messages);
});
