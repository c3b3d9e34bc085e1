import { describe, expect, test } from "vitest";
import { contractOf } from "../../../src/partner/operations.ts";
import { VERSIONS } from "../../../src/partner/versions/all.ts";
import { by } from "../../support/by.ts";
import { expectInContract } from "../../support/contract.ts";
import { partnersOf, setAccount } from "../../support/partners.ts";
import { type OperationName, PREFIX, prepareTopUp, START, startTestService } from "../../support/service.ts";

/** topupd deletes no customer, so only manual SQL between listing and top-up could cause it. */
const NOT_PROVOKED = ["subscription-package-topup customer_not_found"];

const CATALOGUE = [
  { service: "tv", code: "BASE", name: "Base (MONTHLY)", price: 350 },
  { service: "tv", code: "HD", name: "HD (MONTHLY)", price: 750, segments: ["hd"] },
];
const person = (cuid: string, tv: object[], more: object = {}) => ({
  cuid,
  first_name: "First",
  last_name: "Last",
  mobile: "9800000000",
  status: "active",
  connections: { tv },
  ...more,
});
const box = (stb: string, status = "active") => ({ stb, status });
const tv = (cuid: string, reqId: string) => ({ cuid, service: "tv", reqId });

interface Listed {
  readonly version: string;
  readonly name: string;
  readonly refusals: readonly string[];
}

const operations = VERSIONS.flatMap((version): Listed[] =>
  Object.values(contractOf(version)).map(({ name, refusals }) => ({ version: version.name, name, refusals })),
);

test("every refusal that the contract lists of an operation can be had, and none else is", async () => {
  const service = await startTestService();
  await service.importCatalogue(CATALOGUE);
  await service.importCustomers([
    person("1", [box("a"), box("blocked-later"), box("gone-later")]),
    person("2", [box("b")]),
    person("3", [box("c")]),
    person("4", [box("d", "blocked")]),
    person("5", [box("e")], { status: "inactive" }),
  ]);
  const met = new Set<string>();
  const meet = async (operation: OperationName, body: object, token = service.liveToken) => {
    const { json } = await service.call(operation, body, { token });
    if (json.success !== true) met.add(`${operation} ${json.body.reason}`);
  };
  const topUp = (body: object) => meet("subscription-package-topup", body);
  const prepare = (cuid: string, stb: string) =>
    prepareTopUp(service, tv(cuid, stb), undefined, { token: service.liveToken });

  await meet("get-customer-information", { code: "nobody" });
  await meet("get-customer-information", { code: "9800000000" });

  await meet("get-subscription-package", tv("9", "a"));
  await meet("get-subscription-package", tv("1", "b"));
  await meet("get-subscription-package", tv("4", "d"));
  await meet("get-subscription-package", tv("5", "e"));

  const purchase = await prepare("1", "a");
  await topUp({ ...purchase, checkoutId: "made-up" });
  await topUp({ ...purchase, reqId: "blocked-later" });
  await topUp({ ...purchase, bouquetId: "HD" });
  await topUp({ ...purchase, amt: "351" });
  const account = { partnerId: 1, environment: "production" } as const;
  await setAccount(service.store, account, { creditLimit: 0n });
  await topUp(await prepare("1", "a"));
  await setAccount(service.store, account, {});
  await service.store.engine.change((tx) => tx.updateTable("partner").set({ limits: '{"topUpAmount":1}' }).execute());
  await topUp(await prepare("1", "a"));
  await service.store.engine.change((tx) => tx.updateTable("partner").set({ limits: null }).execute());
  await topUp(purchase);
  await topUp({ ...purchase, amt: "351" });
  const [blocked, gone, inactive] = [
    await prepare("1", "blocked-later"),
    await prepare("1", "gone-later"),
    await prepare("3", "c"),
  ];
  const later = [
    person("1", [box("a"), box("blocked-later", "blocked")]),
    person("3", [box("c")], { status: "inactive" }),
  ];
  await service.importCustomers(later, { asOf: new Date(START - 60_000).toISOString() });
  await topUp(blocked);
  await topUp(gone);
  await topUp(inactive);

  const unused = await prepare("2", "b");
  await meet("txn-status", { checkoutId: "made-up" });
  await meet("txn-status", { checkoutId: unused["checkoutId"] });
  service.now = START + 360_001;
  await topUp(unused);
  await meet("txn-status", { checkoutId: unused["checkoutId"] });

  await partnersOf(service.store).setStatus("wallet", "suspended", by(1));
  const bodies = { ...tv("2", "b"), ...unused, code: "2" };
  for (const { name } of operations) await meet(name as OperationName, bodies);

  const listed = operations
    .filter(({ version }) => version === "v1.0.1")
    .flatMap(({ name, refusals }) => refusals.map((refusal) => `${name} ${refusal}`));
  expect([...met].sort()).toEqual(listed.filter((each) => !NOT_PROVOKED.includes(each)).sort());
});

describe.each(operations)("$name of $version", ({ version, name }) => {
  test("fails as the contract says for every kind of bad request", async () => {
    const service = await startTestService();
    const headers = { authorization: `Bearer ${service.trialToken}`, "content-type": "application/json" };
    const send = async (more: object) => {
      const url = `${PREFIX}/${version}/${name}`;
      const answer = await service.inject({ method: "POST", url, headers, payload: "{}", ...more });
      const { statusCode, body } = answer;
      expectInContract(version, name, statusCode, JSON.parse(body), answer.headers);
      return JSON.parse(body).body.reason;
    };
    expect(await send({})).toBe("invalid_field");
    expect(await send({ payload: "{" })).toBe("malformed_json");
    expect(await send({ payload: `{"code":"${"x".repeat(5000)}"}` })).toBe("body_too_large");
    expect(await send({ headers: { ...headers, "content-type": "text/plain" } })).toBe("unsupported_media_type");
    expect(await send({ headers: { "content-type": "application/json" } })).toBe("missing_token");
    expect(await send({ headers: { ...headers, authorization: "Bearer x" } })).toBe("unknown_token");
    service.now = START + 7 * 24 * 60 * 60 * 1000;
    expect(await send({})).toBe("expired_token");
  });
});
