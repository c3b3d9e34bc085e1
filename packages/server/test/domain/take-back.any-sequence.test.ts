import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldGrants, foldSteps } from "../../src/domain/fold.ts";
import type { TopUpsInFile } from "../../src/domain/restatement.ts";
import type { Grant } from "../../src/domain/subscription.ts";
import { decideTakeBack } from "../../src/domain/take-back.ts";
import { anyCalendar, anyPeriod, anyTime } from "./any-ledger.ts";
import { at, connectionWith, DAY_MS, goodwill, MONTHLY, RUNS, reversal, topUp } from "./builders.ts";
import { fileWith, ProviderWorld, statedConnection, statedCustomer } from "./provider-world.ts";

const PLAN = MONTHLY.plan;
const REQ_ID = "fiber1";
const KEY = { service: "internet", reqId: REQ_ID, plan: PLAN } as const;

/** What is granted and taken back beside the days that were a mistake. */
const anyEvent = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("top_up" as const), period: anyPeriod }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("goodwill" as const), days: fc.integer({ min: 1, max: 30 }) }),
  },
  fc.record({ kind: fc.constant("take_back" as const), days: fc.integer({ min: 1, max: 30 }) }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reversal" as const), which: fc.nat({ max: 8 }) }) },
);
const anyPause = fc.nat({ max: 25 * DAY_MS });
const anyMistake = fc
  .record({ days: fc.integer({ min: 1, max: 90 }), part: fc.double({ min: 0, max: 1, noNaN: true }) })
  .map(({ days, part }) => ({ days, back: 1 + Math.floor(part * (days - 1)) }));

type Event = typeof anyEvent extends fc.Arbitrary<infer Made> ? Made : never;

/** Nothing is taken back but what can be: goodwill days as far as a decision admits it. */
function append(ledger: Grant[], event: Event, when: number, calendar: Parameters<typeof decide>[3]): void {
  const id = String(ledger.length);
  if (event.kind === "top_up") ledger.push(topUp(when, { ...MONTHLY, period: event.period }, id));
  if (event.kind === "goodwill") ledger.push(goodwill(when, event.days));
  if (event.kind === "take_back") {
    const outcome = decide(ledger, event.days, when, calendar);
    if (outcome.kind === "taken_back") ledger.push(outcome.grant);
  }
  if (event.kind === "reversal") {
    const gone = new Set(ledger.flatMap((each) => (each.kind === "reversal" ? [each.checkoutId] : [])));
    const open = ledger.flatMap((each) =>
      each.kind === "top_up" && !gone.has(each.checkoutId) ? [each.checkoutId] : [],
    );
    const checkoutId = open[event.which % Math.max(1, open.length)];
    if (checkoutId !== undefined) ledger.push(reversal(when, checkoutId));
  }
}

function decide(grants: readonly Grant[], days: number, when: number, calendar: Parameters<typeof foldGrants>[2]) {
  const subscription = foldGrants(PLAN, grants, calendar);
  const connection = connectionWith({ subscriptions: subscription === undefined ? [] : [subscription] });
  const key = { environment: "production", cuid: "7001", service: "internet", reqId: REQ_ID } as const;
  const ledgers = [{ plan: PLAN, grants, isPruned: false }];
  return decideTakeBack({ connection, ledgers }, { ...key, days, plan: PLAN }, when, calendar);
}

const anyHistory = fc.record({
  start: anyTime,
  before: fc.array(fc.tuple(anyPause, anyEvent), { maxLength: 8 }),
  mistake: anyMistake,
  between: fc.array(fc.tuple(anyPause, anyEvent), { maxLength: 4 }),
  after: fc.array(fc.tuple(anyPause, anyEvent), { maxLength: 4 }),
  pause: anyPause,
  calendar: anyCalendar,
});

describe("days that are taken back", () => {
  test("leave the subscription as if they had never been given, whatever is taken back before and after", () => {
    let taken = 0;
    const property = fc.property(anyHistory, ({ start, before, mistake, between, after, pause, calendar }) => {
      const ledger: Grant[] = [];
      let now = start;
      const play = (events: readonly (readonly [number, Event])[]) => {
        for (const [wait, event] of events) {
          now += wait;
          append(ledger, event, now, calendar);
        }
      };
      play(before);
      now += pause;
      const place = ledger.push(goodwill(now, mistake.days)) - 1;
      play(between.filter(([, { kind }]) => kind === "top_up" || kind === "reversal"));
      const outcome = decide(ledger, mistake.back, now, calendar);
      if (outcome.kind !== "taken_back") return;
      taken += 1;
      const back = ledger.push(outcome.grant) - 1;
      play(after.filter(([, { kind }]) => kind !== "take_back"));
      const left = mistake.days - mistake.back;
      const rest = ledger.flatMap((grant, index) => {
        if (index === back) return [];
        if (index !== place) return [grant];
        return left === 0 ? [] : [goodwill(grant.at, left)];
      });
      expect(foldGrants(PLAN, ledger, calendar)).toEqual(foldGrants(PLAN, rest, calendar));
    });
    fc.assert(property, { ...RUNS, numRuns: 1_500 });
    expect(taken).toBeGreaterThan(500);
  });

  test("never end it before now, and never before what top-ups alone come to", () => {
    let taken = 0;
    const property = fc.property(
      anyTime,
      fc.array(fc.tuple(anyPause, anyEvent), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 60 }),
      anyPause,
      anyCalendar,
      (start, events, days, pause, calendar) => {
        const ledger: Grant[] = [];
        let now = start;
        for (const [wait, event] of events) {
          now += wait;
          append(ledger, event, now, calendar);
        }
        now += pause;
        const outcome = decide(ledger, days, now, calendar);
        if (outcome.kind === "too_many") {
          // What it says can be taken back can be.
          if (outcome.most > 0) expect(decide(ledger, outcome.most, now, calendar).kind).toBe("taken_back");
          return;
        }
        if (outcome.kind !== "taken_back") return;
        taken += 1;
        const { before, after } = outcome;
        expect(after?.end).toBeGreaterThanOrEqual(now);
        const paid = ledger.filter(({ kind }) => kind === "top_up" || kind === "reversal");
        const alone = foldGrants(PLAN, paid, calendar);
        expect(after?.end).toBeGreaterThanOrEqual(Math.min(before?.end ?? 0, alone?.end ?? 0));
        expect(after?.onTop.days).toBeGreaterThanOrEqual(0);
      },
    );
    fc.assert(property, { ...RUNS, numRuns: 1_500 });
    expect(taken).toBeGreaterThan(150);
  });

  // Records that shrink are held up by whatever was granted last, be it goodwill: they come through one import later.
  test.each(["unsaid", "apart", "included"] as const)(
    "leave the subscription as if they had never been given, whatever grew in the records meanwhile (%s)",
    (mode) => {
      let taken = 0;
      const property = fc.property(anySteps, anySteps, anySteps, anyMistake, (before, between, after, mistake) => {
        const pair = new Pair(mode);
        pair.play(before);
        const { withMistake, without, now } = pair;
        withMistake.goodwill(REQ_ID, now, mistake.days);
        if (mistake.days > mistake.back) without.goodwill(REQ_ID, now, mistake.days - mistake.back);
        pair.play(between);
        if (withMistake.takeBack(REQ_ID, pair.now, mistake.back).kind !== "taken_back") return;
        expect(withMistake.folded(KEY)).toEqual(withMistake.subscription(REQ_ID));
        // Where the run would have ended meanwhile, imports have judged by another one.
        if (pair.hasLapsed) return;
        taken += 1;
        expect(withMistake.subscription(REQ_ID)).toEqual(without.subscription(REQ_ID));
        pair.play(after);
        expect(withMistake.subscription(REQ_ID)).toEqual(without.subscription(REQ_ID));
      });
      fc.assert(property, RUNS);
      expect(taken).toBeGreaterThan(200);
    },
  );
});

const anyStep = fc.oneof(
  fc.record({ kind: fc.constant("import" as const), growth: fc.nat({ max: 60 }) }),
  fc.constant({ kind: "top_up" as const }),
  fc.record({ kind: fc.constant("reversal" as const), which: fc.nat({ max: 4 }) }),
);
const anySteps = fc.array(fc.tuple(fc.nat({ max: 5 * DAY_MS }), anyStep), { maxLength: 8 });

/** When the runs began in which each top-up now counts, and the one that there is. */
function runsOf(world: ProviderWorld): string {
  const steps = foldSteps(PLAN, world.ledger(KEY), world.calendar);
  const starts = steps.flatMap(({ grant, after }) => (grant.kind === "top_up" ? [after?.start] : []));
  return JSON.stringify([...starts, steps.at(-1)?.after?.start]);
}

/** One customer twice: with days given by mistake, and without. */
class Pair {
  readonly withMistake = new ProviderWorld();
  readonly without = new ProviderWorld();
  readonly #mode: TopUpsInFile;
  readonly #start = at("2026-01-01T07:00:00Z");
  now = at("2026-01-01T10:00:00Z");
  hasLapsed = false;
  #length = 20 * DAY_MS;

  constructor(mode: TopUpsInFile) {
    this.#mode = mode;
    for (const world of [this.withMistake, this.without]) {
      world.import(statedCustomer([statedConnection()]), this.now);
      world.topUp(REQ_ID, this.now);
    }
  }

  play(steps: readonly (readonly [number, typeof anyStep extends fc.Arbitrary<infer Made> ? Made : never])[]): void {
    for (const [pause, step] of steps) {
      this.now += pause;
      // A minute more, so that no file ends where goodwill has put an end, and counts as a copy.
      if (step.kind === "import") this.#length += step.growth * DAY_MS + 60_000;
      for (const world of [this.withMistake, this.without]) {
        if (step.kind === "import")
          world.import(fileWith(this.#start, this.#start + this.#length), this.now, this.#mode);
        else if (step.kind === "top_up") world.topUp(REQ_ID, this.now);
        else world.reverse(KEY, this.now, step.which);
      }
      this.hasLapsed ||= runsOf(this.withMistake) !== runsOf(this.without);
    }
  }
}
