import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DRIVERS, type Driver, type DriverAnswer } from "./support/drivers.ts";
import { type Arrived, type ScriptedServer, scriptedServer } from "./support/scripted-server.ts";
import { scripted, VECTORS } from "./support/vectors.ts";

/* The clients in all languages send the same, wait as long, and have the same outcome, for any answers. */

const { nowMs, token, purchase, answers } = VECTORS;
const NAMES = [
  "close",
  ...Object.keys(answers).filter((name) => !/^(?:account|customer|entries|listing|top-ups)/.test(name)),
];

let server: ScriptedServer;
let drivers: readonly Driver[];
beforeAll(async () => {
  server = await scriptedServer();
  drivers = DRIVERS.filter(([, isHere]) => isHere).map(([, , start]) => start());
});
afterAll(() => {
  for (const driver of drivers) driver.stop();
  server.close();
});

test("random answers bring all clients to the same outcome", async () => {
  const story = fc.record({
    script: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 8 }),
    resumed: fc.boolean(),
    repeatsAreSafe: fc.boolean(),
    // The waits add up to less than these by far, or to more: a rest of a few milliseconds would be a race.
    giveUpAfterMs: fc.constantFrom(3_300, 480_500),
  });
  await fc.assert(
    fc.asyncProperty(story, async ({ script, resumed, repeatsAreSafe, giveUpAfterMs }) => {
      const told: object[] = [];
      for (const driver of drivers) {
        const arrived = server.begin(script.map(scripted));
        const options = { base: `${server.url}/v1.0.1`, token, repeatsAreSafe };
        const answer = await driver.call({ do: "topUp", with: purchase, resumed, giveUpAfterMs, options, nowMs });
        told.push(essence(answer, arrived));
      }
      for (const other of told) expect(other).toEqual(told[0]);
    }),
    { seed: 1, numRuns: 60 },
  );
});

/** The parts that must be alike. The wording may differ, and the kind of a broken answer. */
function essence({ outcome, waitsMs }: DriverAnswer, arrived: readonly Arrived[]) {
  const { result, replayed, next, failure } = outcome as Record<string, Record<string, unknown> | undefined>;
  const kind = /^(?:no_answer|unreadable)$/.test(String(failure?.["kind"])) ? "broken" : failure?.["kind"];
  const { httpStatus, code, reason, retry, retryAfterMs } = kind === "broken" ? {} : (failure ?? {});
  const ending = { outcome: outcome["outcome"], result, replayed: replayed ?? false, next };
  const told = { kind, httpStatus: httpStatus ?? 0, code, reason, retry, retryAfterMs: retryAfterMs ?? 0 };
  return { ...ending, ...told, waitsMs, calls: arrived.map(({ line, body }) => ({ line, body })) };
}
