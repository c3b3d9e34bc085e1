import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createClient, type TopUpOutcome } from "../src/index.ts";
import { fate, type World, world } from "./support/model-world.ts";
import { type VirtualClock, virtualClock } from "./support/virtual-clock.ts";
import { BASE, PURCHASE, START, TOKEN } from "./support/wire.ts";

const RUNS = 120;
const purchase = { ...PURCHASE, amt: "1290" };

const story = fc.record({
  fates: fc.array(fate, { maxLength: 40, size: "max" }),
  /** How long after the listing the top-up begins, in milliseconds. */
  startMs: fc.constantFrom(0, 1_000, 270_000, 299_990, 300_001, 355_000, 365_000),
  price: fc.constantFrom("1290", "1290", "1290", "1291"),
  /** When the program is stopped, over and over, to be restarted with what it had saved. */
  stopsMs: fc.array(fc.constantFrom(1, 700, 31_000, 100_000), { maxLength: 3 }),
  randoms: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 8 }),
});

type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;

interface Ending {
  readonly made: World;
  readonly clock: VirtualClock;
  /** Outcome of each run of the program. It is run again while the outcome is undecided. */
  readonly outcomes: readonly TopUpOutcome[];
  readonly resume: () => Promise<TopUpOutcome>;
}

async function tell(kind: "topupd" | "foreign", { fates, startMs, price, stopsMs, randoms }: Story): Promise<Ending> {
  const clock = virtualClock();
  const made = world(clock, kind, fates, { issuedAt: START, price });
  let drawn = 0;
  const random = () => randoms[drawn++ % randoms.length] as number;
  const client = () => createClient({ base: BASE, token: TOKEN, fetch: made.fetch, clock, random });
  if (startMs > 0) await clock.run(clock.sleep(startMs));
  const outcomes: TopUpOutcome[] = [];
  for (const stopMs of [...stopsMs, undefined]) {
    const controller = new AbortController();
    if (stopMs !== undefined) void clock.sleep(stopMs).then(() => controller.abort());
    const options = { resumed: outcomes.length > 0, signal: controller.signal };
    const outcome = await clock.run(client().topUp(purchase, options));
    outcomes.push(outcome);
    if (outcome.outcome !== "undecided") break;
  }
  return { made, clock, outcomes, resume: () => clock.run(client().topUp(purchase, { resumed: true })) };
}

/** Lets everything arrive that is still under way, and holds what was said against what is on record. */
async function verify({ made, clock, outcomes }: Ending): Promise<void> {
  await clock.run(clock.sleep(3_600_000));
  const last = outcomes.at(-1) as TopUpOutcome;
  switch (last.outcome) {
    case "topped_up": {
      const { txnId } = last.result;
      const paid = made.charges.find((charge) => charge.txnId === txnId);
      expect(paid?.purchase).toEqual(purchase);
      return;
    }
    case "refused":
    case "never_topped_up":
      expect(made.charges).toEqual([]);
      return;
    case "undecided":
      expect(last.next.checkoutId).toBe(purchase.checkoutId);
  }
}

describe("on any network", () => {
  test("what is said of a top-up at topupd is true for good, and it is made once", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(story, async (told) => {
        const ending = await tell("topupd", told);
        await verify(ending);
        expect(ending.made.charges.length).toBeLessThanOrEqual(1);
        for (const { outcome } of ending.outcomes) seen.add(outcome);
      }),
      { numRuns: RUNS },
    );
    // Else the stories would not tell much.
    expect([...seen].sort()).toEqual(["never_topped_up", "refused", "topped_up", "undecided"]);
  });

  test("a top-up at topupd is settled as soon as the network works again", async () => {
    await fc.assert(
      fc.asyncProperty(story, async (told) => {
        const ending = await tell("topupd", told);
        if (ending.outcomes.at(-1)?.outcome !== "undecided") return;
        await ending.clock.run(ending.clock.sleep(1_000_000));
        let settled = await ending.resume();
        // A person fixes what a gateway forbids, and resumes; what is left of the bad network may take another call.
        for (let tries = 0; tries < told.fates.length && settled.outcome === "undecided"; tries += 1) {
          expect(["fix_request", "query_again"]).toContain(settled.next.do);
          settled = await ending.resume();
        }
        expect(["topped_up", "never_topped_up"]).toContain(settled.outcome);
        await verify({ ...ending, outcomes: [settled] });
      }),
      { numRuns: RUNS },
    );
  });

  test("another deployment, which charges for every top-up that it gets, is sent one", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(story, async (told) => {
        const ending = await tell("foreign", told);
        await verify(ending);
        const limited = told.fates.filter(({ server }) => server === "limits").length;
        const doubled = told.fates.filter(({ request }) => request === "is doubled").length;
        expect(ending.made.sends).toBeLessThanOrEqual(1 + limited);
        expect(ending.made.charges.length).toBeLessThanOrEqual(1 + doubled);
        for (const { outcome } of ending.outcomes) seen.add(outcome);
      }),
      { numRuns: RUNS },
    );
    expect([...seen].sort()).toEqual(["refused", "topped_up", "undecided"]);
  });
});
