import { describe, expect, test } from "vitest";
import type { ConnectionEvent, Recorded } from "../../src/domain/event.ts";
import {
  chainText,
  isOff,
  lastChange,
  promisesConfirmation,
  type ServiceStep,
  type SessionEnd,
  type StepFacts,
  stepAfter,
  stepView,
} from "../../src/domain/service-step.ts";
import type { Target, TargetConfig } from "../../src/domain/target.ts";
import { createZone } from "../../src/domain/wall-time.ts";
import { keyOf, targetWith } from "../support/memory-outbox.ts";

const AT = Date.parse("2026-11-23T12:00:02Z");
const SECOND = 1_000;
const MINUTE = 60_000;
const ZONE = createZone("UTC");
const KEY = keyOf("1");
const CHANGED = { kind: "topup.recorded", at: AT } as const;
const RADIUS = {
  ...{ kind: "radius", database: "", timeZone: "UTC", groups: {}, defaultGroup: undefined, service: "internet" },
} as const satisfies TargetConfig;

function stepWith(changes: Partial<ServiceStep> = {}): ServiceStep {
  const times = { at: AT, sentAt: AT + SECOND, acceptedAt: AT + 2 * SECOND, endedAt: undefined };
  return { key: KEY, seq: 7, kind: "topup.recorded", ...times, outcome: "done", detail: undefined, ...changes };
}

function sessionWith(changes: Partial<SessionEnd>): SessionEnd {
  return { seq: 7, state: "due", dueAt: AT + 2 * SECOND, endedAt: undefined, problem: undefined, ...changes };
}

interface Scene extends Partial<Omit<StepFacts, "target">> {
  readonly target?: Partial<Target>;
  /** Since the change. */
  readonly after?: number;
  readonly key?: typeof KEY;
}

function seen({ target = {}, after = MINUTE, key = KEY, ...facts }: Scene) {
  const given = { step: undefined, changed: CHANGED, unreadAt: undefined, session: undefined, ...facts };
  const view = stepView(key, { target: targetWith(target), ...given }, AT + after);
  return (
    view && [view.state, isOff(view), chainText(CHANGED, [view], ZONE, undefined).split(" · ").slice(1).join(" · ")]
  );
}

const LATE = 5 * MINUTE + SECOND;
const open = { acceptedAt: undefined, outcome: "open", detail: "status 500" } as const;
const promised = stepWith({ outcome: "open" });
const failed = stepWith({ outcome: "failed", endedAt: AT + 7 * SECOND, detail: "no such box" });
const earlier = stepWith({ at: AT - MINUTE, seq: 6 });
const paused = { paused: true };
const feed = { config: { kind: "feed" } } as const;
const radius = { config: RADIUS };

const STATES: readonly (readonly [what: string, scene: Scene, state: string, isOff: boolean, text: string])[] = [
  ["nothing sent", {}, "not_sent", false, "tv not sent yet"],
  ["an earlier event sent", { step: earlier }, "not_sent", false, "tv not sent yet"],
  ["nothing sent for long", { after: LATE }, "not_sent", true, "tv not sent yet, late"],
  ["an earlier one for long", { step: earlier, after: LATE }, "not_sent", true, "tv not sent yet, late"],
  ["nothing sent, paused", { target: paused, after: LATE }, "paused", false, "tv is paused"],
  ["a failure", { step: stepWith(open) }, "failing", false, "tv sent 12:00:03, failing: status 500"],
  [
    "failures for long",
    { step: stepWith(open), after: LATE },
    "failing",
    true,
    "tv sent 12:00:03, failing: status 500, late",
  ],
  ["a failure, paused", { step: stepWith(open), target: paused, after: LATE }, "paused", false, "tv is paused"],
  ["acceptance", { step: stepWith(), after: LATE }, "accepted", false, "tv accepted 12:00:04"],
  ["a promise", { step: promised }, "waits", false, "tv accepted 12:00:04 · waits for its confirmation"],
  [
    "an old promise",
    { step: promised, after: LATE },
    "waits",
    true,
    "tv accepted 12:00:04 · waits for its confirmation, late",
  ],
  [
    "a confirmation",
    { step: stepWith({ endedAt: AT + 7 * SECOND, detail: "box 4711 authorised" }), after: LATE },
    ...(["confirmed", false, "tv accepted 12:00:04 · 'box 4711 authorised' 12:00:09"] as const),
  ],
  [
    "one without a detail, before the answer is on record",
    { step: stepWith({ sentAt: undefined, acceptedAt: undefined, endedAt: AT + 7 * SECOND }) },
    ...(["confirmed", false, "tv accepted · confirmed 12:00:09"] as const),
  ],
  [
    "a failure at the receiver",
    { step: failed },
    "failed",
    true,
    "tv accepted 12:00:04 · failed 12:00:09: no such box",
  ],
  ["a feed that has read all", { target: feed, after: LATE }, "accepted", false, "tv accepted"],
  ["a feed that has read past it", { target: feed, unreadAt: AT + 1 }, "accepted", false, "tv accepted"],
  ["a feed before it", { target: feed, unreadAt: AT }, "not_sent", false, "tv not sent yet"],
  ["a feed long before it", { target: feed, unreadAt: AT - 1, after: LATE }, "not_sent", false, "tv not sent yet"],
  ["RADIUS without sessions", { target: radius, step: stepWith() }, "accepted", false, "tv accepted 12:00:04"],
  ...(
    [
      [
        "a session that must end",
        { state: "due" },
        "waits",
        false,
        "tv accepted 12:00:04 · waits for its confirmation",
      ],
      [
        "a session of an earlier change",
        { state: "due", seq: 5 },
        "waits",
        false,
        "tv accepted 12:00:04 · waits for its confirmation",
      ],
      [
        "a session that does not end",
        { state: "due", dueAt: AT - 1, problem: "10.0.0.1: silent" },
        ...(["waits", true, "tv accepted 12:00:04 · waits for its confirmation: 10.0.0.1: silent, late"] as const),
      ],
      ["no session", { state: "none_open" }, "next_log_in", false, "tv accepted 12:00:04 · works at the next log-in"],
      ["a session that its device does not know", { state: "unknown" }, "accepted", false, "tv accepted 12:00:04"],
      [
        "an ended session",
        { state: "ended", endedAt: AT + 4 * SECOND },
        "confirmed",
        false,
        "tv accepted 12:00:04 · confirmed 12:00:06",
      ],
      ["an ended one of an earlier change", { state: "ended", seq: 5 }, "accepted", false, "tv accepted 12:00:04"],
      [
        "a failed end",
        { state: "failed", problem: "no device" },
        "failed",
        true,
        "tv accepted 12:00:04 · failed: no device",
      ],
    ] as const
  ).map(([what, session, ...said]) => {
    const scene: Scene = { target: radius, step: stepWith(), session: sessionWith(session) };
    return [what, scene, ...said] as const;
  }),
];

describe("a step", () => {
  test.each(STATES)("by %s", (_, scene, ...expected) => {
    expect(seen(scene)).toEqual(expected);
  });

  test("is none at a target that was added later, or that does not take the connection", () => {
    expect(seen({ target: { createdAt: AT + 1 } })).toBeUndefined();
    expect(seen({ changed: undefined })).toBeUndefined();
    expect(seen({ target: radius, key: { ...KEY, environment: "trial" } })).toBeUndefined();
    expect(seen({ target: radius, key: { ...KEY, service: "tv" } })).toBeUndefined();
    // An event that was sent again reaches a new target too.
    expect(seen({ target: { createdAt: AT + 1 }, step: stepWith({ at: AT + MINUTE }) })?.[0]).toBe("accepted");
  });
});

test("a receiver's answer promises a confirmation only by its state", () => {
  const event: Recorded<ConnectionEvent> = {
    ...{ key: KEY, seq: 7, kind: "topup.recorded", at: AT, topUp: undefined, partner: undefined },
    state: { blocked: false, subscriptions: [] },
  };
  const after = (answer: string, problem?: string) => {
    const isPending = promisesConfirmation(answer);
    return stepAfter(event, { sentAt: AT + SECOND, endedAt: AT + 2 * SECOND, isPending, problem });
  };
  for (const answer of [
    "",
    "pending",
    "null",
    '{"state":"done"}',
    '{"data":{"state":"pending"}}',
    '{"state":"pending"',
  ])
    expect(after(answer)).toEqual(stepWith());
  expect(after('{"state": "pending", "more": 1}')).toEqual(promised);
  expect(after('{"data":{"state":"done"},"state":"pending"}')).toEqual(promised);
  expect(after('{"state":"pending"}', "status 500")).toEqual(stepWith(open));
});

test("the last change is that of the ledgers, the block or an end, and sending again is none", () => {
  const ledger = (kind: string, at: number) => ({
    plan: kind,
    entries: [
      { kind: "import", at: { instant: 0 } },
      { kind, at: { instant: at } },
    ],
  });
  const change = (ledgers: readonly object[], blockedAt?: number, ...steps: readonly ServiceStep[]) =>
    lastChange(ledgers as never, blockedAt, steps, ZONE, AT);
  expect(change([])).toBeUndefined();
  expect(change([{ plan: "", entries: [] }])).toBeUndefined();
  expect(change([ledger("top_up", 5), ledger("goodwill", 4)])).toEqual({ kind: "topup.recorded", at: 5 });
  expect(change([ledger("top_up", 5), ledger("reversal", 6)])).toEqual({ kind: "topup.reversed", at: 6 });
  expect(change([ledger("import", 5)])).toEqual({ kind: "subscription.changed", at: 5 });
  expect(change([ledger("top_up", 5)], 6)).toEqual({ kind: "connection.blocked", at: 6 });
  const ended = stepWith({ kind: "subscription.ended", at: 9 });
  expect(change([ledger("top_up", 5)], 6, ended, stepWith({ kind: "subscription.changed", at: 10 }))).toMatchObject({
    kind: "subscription.ended",
    at: 9,
  });
});

test("a start that was to come at the last entry is a change once it passes", () => {
  const at = { instant: AT - 60 * MINUTE, wall: ZONE.wallTime(AT - 60 * MINUTE) };
  const change = (start: string, now = AT) =>
    lastChange([{ plan: "", entries: [{ kind: "top_up", at, after: { start } }] }] as never, undefined, [], ZONE, now);
  expect(change("2026-11-23 11:00:02")).toEqual({ kind: "topup.recorded", at: at.instant });
  expect(change("2026-11-23 12:00:03")).toEqual({ kind: "topup.recorded", at: at.instant });
  expect(change("2026-11-23 12:00:02")).toEqual({ kind: "subscription.changed", at: AT });
});

test("service that begins later is said to, and not to work at the next log-in", () => {
  const facts = { target: targetWith(radius), step: stepWith(), changed: CHANGED, unreadAt: undefined };
  const view = stepView(KEY, { ...facts, session: sessionWith({ state: "none_open" }) }, AT + MINUTE);
  expect(chainText(CHANGED, view === undefined ? [] : [view], ZONE, "2027-02-01 00:00:00")).toBe(
    "paid 2026-11-23 12:00:02 · tv accepted 12:00:04 · from 2027-02-01 00:00:00",
  );
});

test("times of another day have their date", () => {
  const view = stepView(
    KEY,
    {
      target: targetWith(),
      step: stepWith({ acceptedAt: AT + 86_400_000 }),
      changed: CHANGED,
      unreadAt: undefined,
      session: undefined,
    },
    AT,
  );
  expect(chainText(CHANGED, view === undefined ? [] : [view], ZONE, undefined)).toBe(
    "paid 2026-11-23 12:00:02 · tv accepted 2026-11-24 12:00:02",
  );
});
