import { fastify } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { flowOf } from "../../../../scripts/collections/flow.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { rawConnection } from "../support/sqlite-database.ts";
import { documents } from "./documents.ts";
import { runBruno, runPostman, STRAYED } from "./programs.ts";

/** Every test of every request of every version, in order. */
const expected = documents.flatMap((document) =>
  flowOf(document).steps.flatMap(({ name, checks }) => checks.map(({ title }) => ({ request: name, title }))),
);

type Connection = readonly [cuid: string, service: "internet" | "tv" | "iptv"];

const INTERNET: Connection = ["1000001", "internet"];
const TV: Connection = ["1000003", "tv"];

const COLLECTIONS: readonly (readonly [name: string, run: typeof runPostman, connections: readonly Connection[]])[] = [
  ["Postman", runPostman, [INTERNET]],
  ["Bruno", runBruno, [TV]],
];

describe.each(COLLECTIONS)("the %s collection", (_, runCollection, connections) => {
  test.each(connections)(
    "passes whole for customer %s and %s, and makes one top-up per version",
    async (code, service) => {
      const [testService, baseUrl] = await listen();
      const ran = await runCollection({ baseUrl, token: testService.trialToken, code, service });
      expect(ran.code, ran.output).toBe(0);
      expect(expected.length).toBeGreaterThan(30);
      expect(ran.verdicts).toEqual(expected.map((check) => ({ ...check, isPassed: true })));
      // Only v1.0.1 has udf1, so this tells which version made the top-up.
      expect(topUps(testService)).toEqual([
        { cuid: code, service, udf1: "INV-2041" },
        { cuid: code, service, udf1: null },
      ]);
    },
  );

  test("fails in every test with a token that nobody issued, and tops up nothing", async () => {
    const [service, baseUrl] = await listen();
    const ran = await runCollection({ baseUrl, token: "topup_trial_nobody" });
    expect(ran.code).toBe(1);
    expect(ran.verdicts).toEqual(expected.map((check) => ({ ...check, isPassed: false })));
    expect(ran.output).toContain("The access token is not one of this service.");
    expect(topUps(service)).toEqual([]);
  });
});

test("a collection fails where a service makes a second top-up of a replay", async () => {
  const [service, upstream] = await listen();
  const baseUrl = await listenForgetful(upstream);
  const ran = await runPostman({ baseUrl, token: service.trialToken });
  expect(ran.code).toBe(1);
  const failed = ran.verdicts.filter(({ isPassed }) => !isPassed).map(({ title }) => title);
  const found = ["gives the same top-up, and no other", "is marked as a replay", "gives the top-up on record"];
  expect(failed).toEqual([...found, ...found]);
});

test("a collection is stopped by these tests before it reaches another machine", async () => {
  const ran = await runPostman({ baseUrl: "http://192.0.2.1:9", token: "topup_trial_nobody" });
  expect(ran.code).toBe(STRAYED);
  expect(ran.output).toContain("it strayed to 192.0.2.1");
});

/** A fresh service, and the address at which it listens. */
async function listen(): Promise<[TestService, string]> {
  const service = await startTestService();
  return [service, await service.app.listen({ host: "127.0.0.1", port: 0 })];
}

function topUps({ path }: TestService): unknown[] {
  const rows = rawConnection(path).prepare("SELECT cuid, service, udf1 FROM top_up ORDER BY udf1 DESC").all();
  return rows.map((row) => ({ ...(row as object) }));
}

/** Passes everything on, but answers each request with a txnId of its own and marks nothing as a replay. */
async function listenForgetful(upstream: string): Promise<string> {
  let answered = 0;
  const app = fastify();
  onTestFinished(() => app.close());
  app.post("*", async ({ url, headers, body }, reply) => {
    const response = await fetch(`${upstream}${url}`, {
      method: "POST",
      headers: { authorization: headers.authorization ?? "", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    answered += 1;
    const text = (await response.text()).replace(/"txnId":"[^"]*"/, `"txnId":"${answered}"`);
    return reply.code(response.status).type("application/json").send(text);
  });
  return app.listen({ host: "127.0.0.1", port: 0 });
}
