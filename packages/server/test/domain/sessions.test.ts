import { expect, test } from "vitest";
import {
  answerSession,
  askSession,
  type DueUser,
  NEVER,
  noteSessions,
  seeSessions,
  sessionsToAsk,
} from "../../src/domain/sessions.ts";
import { DAY_MS } from "../../src/domain/wall-time.ts";

const USER: DueUser = {
  ...{ username: "sita", seq: 1, at: 0, dueAt: 0, state: "due", endedAt: undefined, problem: undefined },
  ...{ nextAt: 0, attempts: 0, sessions: [] },
};
const session = (id: number, device: string) => {
  return { id, username: "sita", sessionId: `s${id}`, device, framedAddress: undefined, caller: undefined };
};

test("sessions that do not end stay failed and are retried; unknown ones are watched for three days", () => {
  const now = 3 * DAY_MS;
  const asked = askSession(noteSessions(USER, [session(1, "10.0.0.1")], now), 1, now);
  const failed = answerSession(asked, 1, { problem: "10.0.0.1: refused" }, now, 0);
  expect(failed).toMatchObject({ state: "failed", problem: "10.0.0.1: refused", nextAt: now + 1_000, attempts: 1 });
  const unknown = answerSession(asked, 1, "unknown", now, 0);
  expect(unknown).toMatchObject({ state: "unknown", endedAt: undefined });
  const see = (user: DueUser, at: number) => {
    const states = new Map([[1, { id: 1, ended: false, reportedAt: undefined }]]);
    return seeSessions(user, states, { now: at, random: () => 0, isUnderWay: () => false });
  };
  const later = see(see(unknown, now), now + DAY_MS);
  expect(later).toMatchObject({ state: "unknown", endedAt: undefined, nextAt: NEVER });
});

test("an unknown session that accounting reports again has failed, and is asked for, until radacct shows its end", () => {
  let user = noteSessions(USER, [session(1, "10.0.0.1")], 0);
  const see = (reportedAt: string, ended = false) => {
    const states = new Map([[1, { id: 1, ended, reportedAt }]]);
    user = seeSessions(user, states, { now: 1_000, random: () => 0, isUnderWay: () => false });
    return [user.state, user.problem, sessionsToAsk(user, 1_000).length];
  };
  const deny = () => {
    user = answerSession(askSession(user, 1, 0), 1, "unknown", 0, 0);
    return user.state;
  };
  expect([deny(), see("09:00")]).toEqual(["unknown", ["unknown", undefined, 0]]);
  const words = "10.0.0.1 does not know the session, but accounting reports it";
  expect(see("09:05")).toEqual(["failed", words, 1]);
  expect([deny(), see("09:05")]).toEqual(["failed", ["failed", words, 0]]);
  expect(see("09:10")).toEqual(["failed", words, 1]);
  expect(see("09:10", true)).toEqual(["ended", undefined, 0]);
});

test("a user has failed while one of two sessions has, and names each device", () => {
  let user = noteSessions(USER, [session(1, "10.0.0.1"), session(2, "10.0.0.2")], 0);
  for (const id of [1, 2]) user = askSession(user, id, 0);
  user = answerSession(user, 1, { problem: "10.0.0.1: refused" }, 0, 0);
  expect(user).toMatchObject({ state: "failed", nextAt: 1_000 });
  user = answerSession(user, 2, { problem: "no device for 10.0.0.2" }, 0, 0);
  expect(user.problem).toBe("10.0.0.1: refused; no device for 10.0.0.2");
  const see = (...ended: readonly number[]) => {
    const states = new Map([1, 2].map((id) => [id, { id, ended: ended.includes(id), reportedAt: undefined }]));
    user = seeSessions(user, states, { now: 500, random: () => 0, isUnderWay: () => false });
    return [user.state, user.problem, user.endedAt];
  };
  expect(see(2)).toEqual(["failed", "10.0.0.1: refused", undefined]);
  expect(see(1, 2)).toEqual(["ended", undefined, 500]);
});
