import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_MS } from "../../src/domain/calendar.ts";
import type { StatedSubscription } from "../../src/domain/customer-row.ts";
import { foldGrants, foldSteps, placesTakenBack } from "../../src/domain/fold.ts";
import { countPrunable } from "../../src/domain/pruning.ts";
import { PASSED_OVER, restate, type TopUpsInFile } from "../../src/domain/restatement.ts";
import type { Grant, Subscription } from "../../src/domain/subscription.ts";
import { anyCalendar, anyLedger } from "./any-ledger.ts";
import { goodwill, labelOf, MONTHLY, QUARTERLY, RUNS, reversal, takeBack, topUp } from "./builders.ts";

const PLAN = MONTHLY.plan;
const MODES: readonly TopUpsInFile[] = ["included", "apart", "unsaid"];

/** What may still happen to a plan, each some time after the one before it. */
type Later =
  | { readonly kind: "top_up" | "goodwill" | "take_back"; readonly pause: number; readonly days: number }
  /** Of one of the top-ups that there are. */
  | { readonly kind: "reverse"; readonly pause: number; readonly which: number }
  /** Records that end where the subscription ended at some time, or so many days from where it is. */
  | { readonly kind: "state"; readonly pause: number; readonly which: number; readonly off: number };

const pause = fc.nat({ max: 60 * DAY_MS });
const anyLater: fc.Arbitrary<Later> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("top_up" as const, "goodwill" as const, "take_back" as const),
    pause,
    days: fc.integer({ min: 1, max: 50 }),
  }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reverse" as const), pause, which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("state" as const),
      pause,
      which: fc.nat(),
      off: fc.constantFrom(0, 0, 0, -40 * DAY_MS, 40 * DAY_MS),
    }),
  },
);

/** A ledger with checkouts of their own, in which some top-ups were taken back at some time. */
const anyReversed = fc
  .tuple(
    anyLedger,
    fc.array(fc.tuple(fc.nat({ max: 11 }), fc.nat({ max: 6 })), { maxLength: 4 }),
    fc.array(fc.nat({ max: 11 }), { maxLength: 2 }),
  )
  .map(([ledger, taken, backs]) => {
    const named = ledger.map((grant, index) =>
      grant.kind === "top_up" ? { ...grant, checkoutId: String(index) } : grant,
    );
    const reversed = new Map(taken.map(([index, wait]) => [String(index), index + wait]));
    return named.flatMap((grant, index): Grant[] => [
      grant,
      ...(backs.includes(index) ? [takeBack(grant.at, 1 + (index % 4) * 9)] : []),
      ...[...reversed]
        .filter(([id, when]) => Math.min(when, named.length - 1) === index && named[Number(id)]?.kind === "top_up")
        .map(([id]) => reversal(grant.at, id)),
    ]);
  });

function isTopUpOf(grant: Grant, checkoutId: string): boolean {
  return grant.kind === "top_up" && grant.checkoutId === checkoutId;
}

/** What a ledger comes to, and by which steps; of the first step, what was before it is let go. */
function historyOf(ledger: readonly Grant[], from: number, calendar: Parameters<typeof foldSteps>[2]) {
  return foldSteps(PLAN, ledger, calendar)
    .slice(from)
    .map(({ grant, counts, before, after }, index) => ({ grant, counts, after, before: index === 0 ? null : before }));
}

function statedAt(
  whole: readonly Grant[],
  { which, off }: { which: number; off: number },
  calendar: Parameters<typeof foldSteps>[2],
) {
  const runs = foldSteps(PLAN, whole, calendar).flatMap(({ before, after, known, grant }) => [
    ...[before, after, known].filter((each): each is Subscription => each !== undefined),
    ...(grant.kind === "statement" ? [{ start: grant.start, end: calendar.add(grant.start, grant.span) }] : []),
  ]);
  const run = runs[which % Math.max(1, runs.length)];
  if (run === undefined || run.end + off <= run.start) return undefined;
  const end = run.end + off;
  const span = calendar.between(run.start, end);
  return { plan: PLAN, bouquet: labelOf(MONTHLY), start: run.start, end, span } satisfies StatedSubscription;
}

test("what may go is missed by nothing that there is, or that may still come", () => {
  let [gone, reversedInRest, takenInRest] = [0, 0, 0];
  const property = fc.property(
    anyReversed,
    anyCalendar,
    fc.integer({ min: 0, max: 15 }),
    fc.array(anyLater, { maxLength: 6 }),
    (ledger, calendar, cutAt, later) => {
      const last = (ledger.at(-1) as Grant).at;
      const before = (ledger[cutAt]?.at ?? last) + DAY_MS;
      const count = countPrunable(PLAN, ledger, before, calendar);
      expect(ledger.slice(0, count).every((grant) => grant.at < before)).toBe(true);
      if (count === 0) return;
      gone += 1;
      let [whole, rest] = [ledger, ledger.slice(count)];
      const opening = rest[0] as Grant;
      const agree = () => {
        expect(foldGrants(PLAN, rest, calendar)).toEqual(foldGrants(PLAN, whole, calendar));
        expect(historyOf(rest, 0, calendar)).toEqual(historyOf(whole, count, calendar));
      };
      agree();
      const goneDays = placesTakenBack(ledger.slice(0, count));
      let now = last;
      for (const step of later) {
        now += step.pause;
        if (step.kind === "state") {
          const stated = statedAt(whole, step, calendar);
          if (stated === undefined) continue;
          for (const mode of MODES)
            expect(restate(rest, stated, now, calendar, mode)).toEqual(restate(whole, stated, now, calendar, mode));
          const word = restate(whole, stated, now, calendar, MODES[step.which % 3] as TopUpsInFile);
          if (word === undefined || word === PASSED_OVER) continue;
          [whole, rest] = [
            [...whole, word],
            [...rest, word],
          ];
        } else if (step.kind === "reverse") {
          const taken = new Set(whole.flatMap((grant) => (grant.kind === "reversal" ? [grant.checkoutId] : [])));
          const open = rest.flatMap((grant) =>
            grant !== opening && grant.kind === "top_up" && !taken.has(grant.checkoutId) ? [grant.checkoutId] : [],
          );
          const checkoutId = open[step.which % Math.max(1, open.length)];
          if (checkoutId === undefined) continue;
          reversedInRest += 1;
          [whole, rest] = [
            [...whole, reversal(now, checkoutId)],
            [...rest, reversal(now, checkoutId)],
          ];
        } else if (step.kind === "take_back") {
          const entry = takeBack(now, step.days);
          const [left, asWhole] = [historyOf([...rest, entry], 0, calendar), placesTakenBack([...whole, entry])];
          // What is let go, and the day that begins what is left, cannot be taken back.
          if (
            left[0]?.counts === false ||
            [...asWhole].some(([place, days]) => place < count && goneDays.get(place) !== days)
          )
            continue;
          takenInRest += 1;
          [whole, rest] = [
            [...whole, entry],
            [...rest, entry],
          ];
        } else {
          const entry =
            step.kind === "top_up"
              ? topUp(now, step.days % 2 === 0 ? MONTHLY : QUARTERLY, `later ${whole.length}`)
              : goodwill(now, step.days);
          [whole, rest] = [
            [...whole, entry],
            [...rest, entry],
          ];
        }
        agree();
      }
    },
  );
  fc.assert(property, { ...RUNS, numRuns: 3_000 });
  expect(gone).toBeGreaterThan(300);
  expect(reversedInRest).toBeGreaterThan(50);
  expect(takenInRest).toBeGreaterThan(50);
}, 60_000);

test("what was granted and what took it back go together or stay together", () => {
  const property = fc.property(anyReversed, anyCalendar, fc.nat({ max: 15 }), (ledger, calendar, cutAt) => {
    const count = countPrunable(PLAN, ledger, (ledger[cutAt] ?? (ledger.at(-1) as Grant)).at + DAY_MS, calendar);
    const [gone, rest] = [ledger.slice(0, count), ledger.slice(count)];
    for (const part of [gone, rest])
      for (const grant of part)
        if (grant.kind === "reversal") expect(part.some((each) => isTopUpOf(each, grant.checkoutId))).toBe(true);
    const [ofRest, ofAll] = [placesTakenBack(rest), placesTakenBack(ledger)];
    for (const [place, days] of ofAll) if (place >= count) expect(ofRest.get(place - count)).toBe(days);
  });
  fc.assert(property, RUNS);
});
