import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Exchange, recordFlow } from "../support/recorded-flow.ts";
import { PREFIX, startTestService } from "../support/service.ts";

/** The committed contract, so that a change of a published version is seen. */
const GOLDENS = "../../../../contract";

type VersionName = "v1.0.1" | "v1.0.0";

const KEPT_HEADERS = ["content-type", "idempotent-replayed", "www-authenticate", "allow", "retry-after"];

/** Records the same requests with either version: same state, time and randomness. */
async function record(version: VersionName): Promise<Exchange[]> {
  const service = await startTestService();
  const exchanges = await recordFlow(service, (operation, body, token) =>
    service.call(operation, body, { version, ...(token !== undefined && { token }) }),
  );
  return exchanges.map(({ response, ...exchange }) => {
    const { headers } = response;
    const kept = Object.fromEntries(KEPT_HEADERS.flatMap((name) => (name in headers ? [[name, headers[name]]] : [])));
    return { ...exchange, response: { ...response, headers: kept } };
  });
}

// biome-ignore lint/suspicious/noExplicitAny: wire bodies are looked into by name
type Body = any;

/** Applies the three documented differences between the versions, and nothing else. */
function asVersion100({ title, request, response }: Exchange, older: readonly Exchange[]): Exchange {
  const { success, code, body }: Body = response.body;
  if (title === "a top-up with an overlong udf1") {
    // v1.0.0 ignores udf1, so the unknown checkoutId is the first problem.
    const refused = older.find((exchange) => exchange.title === title) as Exchange;
    expect((refused.response.body as Body).code).toBe("400ab101");
    expect(code).toBe("400ad002");
    return refused;
  }
  const converted = { ...body };
  if (body.customer?.connections !== undefined) {
    const { connections, ...customer } = body.customer;
    Object.assign(converted, { customer, connection: connections });
  }
  for (const service of ["tv", "internet", "iptv"]) {
    if (body[service] === undefined) continue;
    const bouquets = body[service].bouquets.map(({ price, ...rest }: Body) => ({ ...rest, amt: price }));
    converted[service] = { ...body[service], bouquets };
  }
  return { title, request, response: { ...response, body: { success, code, body: converted } } };
}

const write = (exchanges: readonly Exchange[]) => `${JSON.stringify(exchanges, null, 2)}\n`;

function readGolden(version: VersionName): Exchange[] {
  return JSON.parse(readFileSync(new URL(`${GOLDENS}/wire.${version}.json`, import.meta.url), "utf8")) as Exchange[];
}

describe("the wire", () => {
  test.each(["v1.0.1", "v1.0.0"] as const)("of %s is as committed, to the byte", async (version) => {
    await expect(write(await record(version))).toMatchFileSnapshot(`${GOLDENS}/wire.${version}.json`);
  });

  test("differs between the versions in exactly the three documented ways", () => {
    const [newer, older] = [readGolden("v1.0.1"), readGolden("v1.0.0")];
    expect(older).toEqual(newer.map((exchange) => asVersion100(exchange, older)));
    expect(older).not.toEqual(newer);
  });

  test("carries no field that the interface does not name", async () => {
    const service = await startTestService();
    const response = await service.inject({
      method: "POST",
      url: `${PREFIX}/v1.0.1/get-subscription-package`,
      headers: { authorization: `Bearer ${service.trialToken}`, "content-type": "application/json" },
      payload: JSON.stringify({ cuid: "1000003", service: "tv", reqId: "000100000000003" }),
    });
    const { body }: Body = response.json();
    expect(Object.keys(body)).toEqual(["checkoutId", "customer", "tv"]);
    expect(Object.keys(body.customer)).toEqual(["cuid", "first_name", "last_name", "status"]);
    expect(Object.keys(body.tv)).toEqual(["connection", "subscriptions", "bouquets"]);
    expect(Object.keys(body.tv.connection)).toEqual(["stb", "status"]);
    expect(Object.keys(body.tv.subscriptions[0])).toEqual(["code", "name", "startdate", "enddate"]);
    expect(Object.keys(body.tv.bouquets[0])).toEqual(["code", "name", "price"]);
  });
});
