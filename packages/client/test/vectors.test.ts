import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DRIVERS, type Driver } from "./support/drivers.ts";
import { type ScriptedServer, scriptedServer } from "./support/scripted-server.ts";
import { requestOf, scripted, VECTORS } from "./support/vectors.ts";
import { PREFIX } from "./support/wire.ts";

/* The clients in all languages do the same: each makes the calls of one file against a server that answers by script. */

const { nowMs, token, purchase, vectors } = VECTORS;

for (const [language, isHere, start] of DRIVERS) {
  describe.skipIf(!isHere)(`the client in ${language}`, () => {
    let [server, driver] = [undefined as unknown as ScriptedServer, undefined as unknown as Driver];
    beforeAll(async () => {
      server = await scriptedServer();
      driver = start();
    });
    afterAll(() => {
      driver.stop();
      server.close();
    });

    test.each(vectors.map((vector) => [vector.name, vector] as const))("%s", async (_, vector) => {
      const arrived = server.begin(vector.answers.map(scripted));
      const values = vector.do === undefined ? { ...purchase, ...vector.with } : { ...vector.with };
      const { calls, outcome, resumed, giveUpAfterMs, version = "v1.0.1" } = vector;
      const options = { base: `${server.url}${PREFIX}/${version}`, token, ...vector.options };
      const call = { do: vector.do ?? ("topUp" as const), with: values, resumed, giveUpAfterMs, options, nowMs };
      const startedAt = performance.now();
      const answer = await driver.call(call);
      // A time limit of a few hundred milliseconds is kept, on a busy machine too.
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      const { raised, ...expected } = outcome;
      if (raised === undefined) expect(answer.outcome).toMatchObject(expected);
      else expect(String(answer.outcome["raised"]).toLowerCase()).toContain(raised);
      expect(answer.waitsMs).toEqual(calls.map(([, waitMs]) => waitMs).filter((waitMs) => waitMs > 0));
      expect(arrived).toEqual(calls.map(([operation]) => requestOf(vector, operation, values)));
      expect(JSON.stringify(answer)).not.toContain(token.slice(0, 20));
      if (language !== "TypeScript") expect(answer.shown).not.toContain("Asha");
    });
  });
}
