import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DEFAULT_LIMITS,
  hashLookUp,
  LOOK_UP_WINDOW_MS,
  LookUpLog,
  TokenBucket,
} from "../../src/domain/partner-limits.ts";
import { seededRandom } from "../support/random.ts";

const HOUR = LOOK_UP_WINDOW_MS;
const limits = DEFAULT_LIMITS;
const KEY = Buffer.alloc(32);

describe("the rate of a partner", () => {
  test("never exceeds the burst and the rate in any time, and a wait that is kept is long enough", () => {
    const anyLimits = fc.record({ rate: fc.integer({ min: 1, max: 300 }), burst: fc.integer({ min: 1, max: 50 }) });
    const anyPauses = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(anyLimits, anyPauses, (limit, pauses) => {
        const bucket = new TokenBucket();
        const taken: number[] = [];
        let now = 1_000;
        for (const pause of pauses) {
          now += pause;
          const wait = bucket.take(now, limit);
          if (wait > 0) {
            now += Math.ceil(wait);
            expect(bucket.take(now, limit)).toBe(0);
          }
          taken.push(now);
        }
        taken.forEach((from, first) => {
          taken.slice(first).forEach((to, more) => {
            expect(more + 1).toBeLessThanOrEqual(limit.burst + ((to - from) * limit.rate) / 1000 + 1e-6);
          });
        });
      }),
      { numRuns: 60 },
    );
  });

  test("allows the whole burst at once, then one call for each interval, and a new limit at once", () => {
    const bucket = new TokenBucket();
    for (let call = 0; call < 500; call += 1) expect(bucket.take(0, limits)).toBe(0);
    expect(bucket.take(0, limits)).toBeCloseTo(20);
    expect(bucket.take(20, limits)).toBe(0);
    expect(bucket.take(20, limits)).toBeGreaterThan(0);
    expect(bucket.take(20, { ...limits, burst: 502 })).toBe(0);
  });
});

describe("the look-ups of a partner", () => {
  const lookUp = { partnerId: 1, environment: "production", key: "", limit: limits.newLookUps } as const;

  test("are 600 in any 60 minutes for a client that counts upwards", () => {
    const log = new LookUpLog();
    const answered: number[] = [];
    for (let now = 0, code = 0; now < 3 * HOUR; now += 500, code += 1)
      if (log.count(lookUp, `${code}`, now) === 0) answered.push(now);
    answered.forEach((from, first) => {
      const next = answered[first + 600];
      if (next !== undefined) expect(next - from).toBeGreaterThanOrEqual(HOUR);
    });
    expect(answered.length).toBe(3 * 600);
  });

  test("count a code once an hour, and each partner and environment by itself", () => {
    const log = new LookUpLog();
    const one = { ...lookUp, limit: 1 };
    expect(log.count(one, "7", 0)).toBe(0);
    expect(log.count(one, "7", 1)).toBe(0);
    expect([log.count(one, "8", 1), log.count(one, "9", 1)]).toEqual([HOUR - 1, HOUR - 1]);
    expect(log.count({ ...one, environment: "trial" }, "8", 1)).toBe(0);
    expect(log.count({ ...one, partnerId: 2 }, "8", 1)).toBe(0);
    expect(log.count(one, "8", HOUR)).toBe(0);
  });

  test("are counted no longer than an hour if the clock was a year ahead", () => {
    const log = new LookUpLog();
    const one = { ...lookUp, limit: 1 };
    expect(log.count(one, "7", 365 * 24 * HOUR)).toBe(0);
    expect(log.count(one, "8", 0)).toBe(0);
  });

  test("have a hash of their own for each partner, environment, code and key", () => {
    const code = { ...lookUp, key: "9800000001" };
    const others = [{ partnerId: 2 }, { environment: "trial" as const }, { key: "9800000002" }];
    const hashes = [code, ...others.map((other) => ({ ...code, ...other }))].map((each) => hashLookUp(each, KEY));
    expect(new Set([...hashes, hashLookUp(code, Buffer.alloc(32, 1))]).size).toBe(5);
    expect(hashLookUp(code, KEY)).toBe(hashes[0]);
  });
});

test("a month of honest traffic is never refused: 98 of 100 codes exist, 80 of 100 customers were topped up", () => {
  const [log, bucket, random] = [new LookUpLog(), new TokenBucket(), seededRandom(38)];
  const draw = () => (Buffer.from(random(4)).readUInt32BE() + 0.5) / 2 ** 32;
  let [lookUps, refused] = [0, 0];
  for (let now = 0; now < 30 * 24 * HOUR; ) {
    // Evenings are four times as busy as the average of 300 look-ups an hour.
    const isEvening = Math.floor(now / HOUR) % 24 >= 20;
    now -= (Math.log(draw()) * HOUR) / (isEvening ? 1_200 : 120);
    lookUps += 1;
    const [isHit, isKnown, key] = [draw() < 0.98, draw() < 0.8, `${lookUps}`];
    // A look-up, a listing, a top-up, and the query of its outcome.
    for (let call = 0; call < 4; call += 1) refused += Math.sign(bucket.take(now, limits));
    const stranger = { partnerId: 1, environment: "production", key, limit: limits.newLookUps } as const;
    if (!isHit || !isKnown) refused += Math.sign(log.count(stranger, key, now));
  }
  expect(lookUps).toBeGreaterThan(200_000);
  expect(refused).toBe(0);
});
