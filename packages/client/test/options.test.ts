import { describe, expect, test } from "vitest";
import { type ClientOptions, createClient, type Purchase } from "../src/index.ts";
import { scene } from "./support/scripted.ts";
import { BASE, PREFIX, PURCHASE, recorded, reply, TOKEN } from "./support/wire.ts";

const good: ClientOptions = { base: BASE, token: TOKEN };

describe("an option", () => {
  test.each<[string, object]>([
    ["base", { base: undefined }],
    ["base", { base: "topup.example/v1.0.1" }],
    ["base", { base: "ftp://topup.example/v1.0.1" }],
    ["base", { base: `https://user:${TOKEN}@topup.example/v1.0.1` }],
    ["base", { base: `https://topup.example/v1.0.1?token=${TOKEN}` }],
    ["base", { base: "https://topup.example" }],
    ["base", { base: "https://topup.example/xv1.0.1" }],
    ["base", { base: `${BASE}/txn-status` }],
    ["token", { token: undefined }],
    ["token", { token: "" }],
    ["token", { token: `Bearer ${TOKEN}` }],
    ["token", { token: `${TOKEN}\n` }],
    ["token", { token: `${TOKEN}é` }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["timeoutMs", { timeoutMs: 2 ** 31 }],
    ["timeoutMs", { timeoutMs: "30000" }],
    ["repeatsAreSafe", { repeatsAreSafe: "yes" }],
    ["fetch", { fetch: {} }],
    ["clock", { clock: { now: 0 } }],
    ["clock.monotonic", { clock: { now: Date.now, sleep: async () => {}, monotonic: 0 } }],
    ["random", { random: 4 }],
  ])("%s that is wrong is refused by its name, without its value", (name, wrong) => {
    const create = () => createClient({ ...good, ...wrong } as ClientOptions);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(new RegExp(`^(?!.*${TOKEN.slice(0, 15)})${name}\\b`));
  });

  test.each([
    [BASE, `${BASE}/txn-status`],
    ["https://topup.example/v1.0.0/", "https://topup.example/v1.0.0/txn-status"],
    ["http://localhost:8080/behind/api/v1.0.1", "http://localhost:8080/behind/api/v1.0.1/txn-status"],
  ])("base %s leads to %s", async (base, address) => {
    const urls: string[] = [];
    const fetch = async (url: string) => {
      urls.push(url);
      return Promise.reject(new Error("enough"));
    };
    await createClient({ ...good, base, fetch }).queryTransaction("c-1");
    expect(urls).toEqual([address]);
  });
});

describe("a purchase", () => {
  const refusal = async (changes: object, version: "v1.0.1" | "v1.0.0" = "v1.0.1") => {
    const { client, sent } = scene([recorded()], { base: `https://topup.example${PREFIX}/${version}` });
    const error: unknown = await client
      .topUp({ ...PURCHASE, ...changes } as Purchase)
      .catch((thrown: unknown) => thrown);
    expect(sent).toEqual([]);
    return error;
  };

  test.each<[string, object]>([
    ["cuid", { cuid: 1_000_003 }],
    ["service", { service: "radio" }],
    ["reqId", { reqId: "" }],
    ["checkoutId", { checkoutId: undefined }],
    ["bouquetId", { bouquetId: null }],
    ["amt", { amt: 1290 }],
    ["amt", { amt: "1290,00" }],
    ["amt", { amt: "-1290" }],
    ["udf1", { udf1: "x".repeat(31) }],
    ["udf2", { udf2: 7 }],
  ])("with a wrong %s is refused by its name, and not sent", async (name, changes) => {
    const error = await refusal(changes);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain(`TypeError: ${name} `);
  });

  test("with udf1 in v1.0.0, which would be lost, is refused", async () => {
    expect(String(await refusal({ udf1: "INV-1" }, "v1.0.0"))).toContain("does not exist in v1.0.0");
  });

  test("in minor units is sent as a decimal, and nothing is sent that was not asked for", async () => {
    const { client, bodies } = scene([recorded()]);
    const amt = { minorUnits: 129_000n, exponent: 2 };
    const udf1 = "₹".repeat(30);
    expect(await client.topUp({ ...PURCHASE, amt, udf1, secret: "x" } as Purchase)).toMatchObject({
      outcome: "topped_up",
    });
    expect(bodies).toEqual([{ ...PURCHASE, amt: "1290", udf1 }]);
  });

  test("with amounts in minor units that are no amount is refused", async () => {
    const { client } = scene([recorded()]);
    for (const amt of [
      { minorUnits: -1n, exponent: 2 },
      { minorUnits: 1n, exponent: 10 },
      { minorUnits: 10n ** 17n, exponent: 2 },
      { minorUnits: 5 as unknown as bigint, exponent: 2 },
      "1234567890123456",
    ]) {
      await expect(client.topUp({ ...PURCHASE, amt })).rejects.toThrow(TypeError);
    }
  });
});

test("an argument that is wrong is refused by its name, and not sent", async () => {
  const { client, sent } = scene([reply(200, {})]);
  await expect(client.lookUpCustomer("")).rejects.toThrow("code must be");
  await expect(client.listPackages({ cuid: "1", service: "radio" as "tv", reqId: "1" })).rejects.toThrow(
    "service must be",
  );
  await expect(client.queryTransaction("x", { timeoutMs: -1 })).rejects.toThrow("timeoutMs must be");
  await expect(client.topUp(PURCHASE, { giveUpAfterMs: Number.NaN })).rejects.toThrow("giveUpAfterMs must be");
  await expect(client.topUp(PURCHASE, { resumed: 1 as unknown as boolean })).rejects.toThrow("resumed must be");
  expect(sent).toEqual([]);
});
