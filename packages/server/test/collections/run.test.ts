import { fastify } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { flowOf } from "../../../../scripts/collections/flow.ts";
import type { OpenApi } from "../../../../scripts/collections/openapi.ts";
import { PREFIX, startTestService, type TestService } from "../support/service.ts";
import { rawConnection } from "../support/sqlite-database.ts";
import { documents } from "./documents.ts";
import { runBruno, runPostman, STRAYED } from "./programs.ts";

/** Every test of every request of a version, in order. */
const expected = (version: string) => {
  const document = documents.find(({ info }) => `v${info.version}` === version) as OpenApi;
  return flowOf(document).steps.flatMap(({ name, checks }) => checks.map(({ title }) => ({ request: name, title })));
};
const VERSIONS = ["v1.0.1", "v1.0.0"] as const;

type Connection = readonly [cuid: string, service: "internet" | "tv" | "iptv"];

const INTERNET: Connection = ["1000001", "internet"];
const TV: Connection = ["1000003", "tv"];

const COLLECTIONS: readonly (readonly [name: string, run: typeof runPostman, connections: readonly Connection[]])[] = [
  ["Postman", runPostman, [INTERNET]],
  ["Bruno", runBruno, [TV]],
];

describe.each(COLLECTIONS)("the %s collection", (_, runCollection, connections) => {
  test.each(connections)("passes whole for customer %s and %s, and makes one top-up", async (code, service) => {
    const [testService, baseOf] = await listen();
    for (const version of VERSIONS) {
      const ran = await runCollection(version, { base: baseOf(version), token: testService.trialToken, code, service });
      expect(ran.code, ran.output).toBe(0);
      expect(ran.verdicts.length).toBeGreaterThan(15);
      expect(ran.verdicts).toEqual(expected(version).map((check) => ({ ...check, isPassed: true })));
    }
    // Only v1.0.1 has udf1, so this tells which version made the top-up.
    expect(topUps(testService)).toEqual([
      { cuid: code, service, udf1: "INV-2041" },
      { cuid: code, service, udf1: null },
    ]);
  });

  test("fails in every test with a token that nobody issued, and tops up nothing", async () => {
    const [service, baseOf] = await listen();
    const ran = await runCollection("v1.0.1", { base: baseOf("v1.0.1"), token: "topup_trial_nobody" });
    expect(ran.code).toBe(1);
    expect(ran.verdicts).toEqual(expected("v1.0.1").map((check) => ({ ...check, isPassed: false })));
    expect(ran.output).toContain("The access token is not one of this service.");
    expect(topUps(service)).toEqual([]);
  });
});

test("a collection fails where a service makes a second top-up of a replay", async () => {
  const [service, baseOf] = await listen();
  const base = await listenForgetful(baseOf("v1.0.1"));
  const ran = await runPostman("v1.0.1", { base, token: service.trialToken });
  expect(ran.code).toBe(1);
  const failed = ran.verdicts.filter(({ isPassed }) => !isPassed).map(({ title }) => title);
  expect(failed).toEqual([
    "gives the same top-up, and no other",
    "is marked as a replay",
    "gives the top-up on record",
  ]);
});

test("a collection is stopped by these tests before it reaches another machine", async () => {
  const ran = await runPostman("v1.0.1", { base: "http://192.0.2.1:9", token: "topup_trial_nobody" });
  expect(ran.code).toBe(STRAYED);
  expect(ran.output).toContain("it strayed to 192.0.2.1");
});

/** A fresh service, and the BASE of each version. */
async function listen(): Promise<[TestService, (version: string) => string]> {
  const service = await startTestService();
  const url = await service.app.listen({ host: "127.0.0.1", port: 0 });
  return [service, (version) => `${url}${PREFIX}/${version}`];
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
