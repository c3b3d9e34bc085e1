import { describe, expect, test } from "vitest";
import { DEFAULT_BASE_PLANS } from "../../../src/domain/catalogue.ts";
import { createZone } from "../../../src/domain/wall-time.ts";
import type { Json } from "../../../src/partner/openapi/components.ts";
import { openApiDocument } from "../../../src/partner/openapi/document.ts";
import { EXAMPLE_TIME } from "../../../src/partner/openapi/examples.ts";
import { VERSIONS } from "../../../src/partner/versions/all.ts";
import { documentOf, expectInContract } from "../../support/contract.ts";
import { type OperationName, prepareTopUp, startTestService, type TestService } from "../../support/service.ts";

const NAMES = VERSIONS.map(({ name }) => name) as ("v1.0.1" | "v1.0.0")[];

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into by name
type Part = any;

describe.each(NAMES)("the OpenAPI document of %s", (version) => {
  test("is as committed, to the byte", async () => {
    const text = `${JSON.stringify(documentOf(version), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(`../../../../../contract/openapi.${version}.json`);
  });

  test("is served, with the zone and the currency of the provider", async () => {
    const prefix = "/partners/api";
    const publicUrl = "https://topup.provider.example";
    const service = await startTestService({ timeZone: "Asia/Kathmandu", currencyExponent: 3, prefix, publicUrl });
    const { statusCode, headers, body } = await service.inject(`/openapi/${version}.json`);
    expect(statusCode).toBe(200);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    const provider = { zone: createZone("Asia/Kathmandu"), currencyExponent: 3, basePlans: DEFAULT_BASE_PLANS };
    const found = VERSIONS.find(({ name }) => name === version) as (typeof VERSIONS)[number];
    expect(JSON.parse(body)).toEqual(openApiDocument(found, { prefix, publicUrl, provider, retirement: undefined }));
    expect(body).toContain("Asia/Kathmandu");
    expect(JSON.parse(body).servers).toMatchObject([{ url: `${publicUrl}${prefix}/${version}` }]);
    const { status } = await service.call("get-customer-information", { code: "1000001" }, { version });
    expect(status).toBe(200);
  });

  test("describes every field", () => {
    const undescribed: string[] = [];
    const visit = (part: Json, path: string) => {
      if (part === null || typeof part !== "object") return;
      const { properties } = part as Part;
      for (const [name, field] of Object.entries<Part>(properties ?? {})) {
        if (field.description === undefined && field.$ref === undefined) undescribed.push(`${path}/${name}`);
      }
      for (const [name, member] of Object.entries(part)) visit(member, `${path}/${name}`);
    };
    const document = documentOf(version) as Part;
    visit(document, "");
    expect(undescribed).toEqual([]);
    expect(Object.keys(document.components.schemas).length).toBeGreaterThan(15);
    for (const [name, schema] of Object.entries<Part>(document.components.schemas)) {
      if (!name.endsWith("Request")) expect(schema.description, name).toBeTruthy();
    }
  });

  test("has the four operations, each with what it takes, what it gives and what it costs to fail", () => {
    const { paths } = documentOf(version) as Part;
    expect(Object.keys(paths).slice(0, 4)).toEqual([
      "/get-customer-information",
      "/get-subscription-package",
      "/subscription-package-topup",
      "/txn-status",
    ]);
    for (const { post } of operationsIn(paths)) {
      expect(Object.keys(post.responses)).toEqual(
        expect.arrayContaining(["200", "400", "401", "403", "404", "413", "415", "429", "500", "503"]),
      );
    }
  });

  test("has examples that the trial environment gives", async () => {
    const service = await startTestService({ now: EXAMPLE_TIME });
    const { paths } = documentOf(version) as Part;
    for (const [path, { post }] of Object.entries<Part>(paths)) {
      if (post === undefined) continue;
      const operation = path.slice(1) as OperationName;
      const shown = post.responses["200"].content["application/json"].examples;
      const requests = post.requestBody.content["application/json"].examples;
      expect(Object.keys(requests).length).toBeGreaterThan(0);
      for (const [name, { value }] of Object.entries<Part>(requests)) {
        const checkoutId = value.checkoutId && (await checkoutFor(service, operation));
        const { json } = await service.call(operation, { ...value, ...(checkoutId && { checkoutId }) }, { version });
        expect(withoutIds(json), `${operation}: ${name}`).toEqual(withoutIds(shown[name].value));
        expectInContract(version, operation, 200, shown[name].value);
      }
    }
  });
});

test.each(NAMES)("the document of %s also has the reports, marked as an extension, below its one server", (version) => {
  const { paths, tags, servers } = documentOf(version) as Part;
  expect(servers.map(({ url }: Part) => url)).toEqual([`/staging/api/third-party/${version}`]);
  expect(
    Object.values<Part>(paths).filter((path) => "servers" in path || "servers" in (path.get ?? path.post)),
  ).toEqual([]);
  const reports = Object.entries<Part>(paths).filter(([, { get }]) => get !== undefined);
  const names = ["/partner/account", "/partner/account/entries", "/partner/top-ups", "/partner/webhook"];
  expect(reports.map(([path]) => path)).toEqual(names);
  for (const [path, { get }] of reports) {
    expect(get.tags).toEqual(["Extension"]);
    expect(Object.keys(get.responses)).toEqual(["200", "400", "401", "403", "429", "500", "503"]);
    const [{ value }] = Object.values<Part>(get.responses["200"].content["application/json"].examples);
    expectInContract(version, path.slice(1), 200, value);
  }
  expect(tags.map(({ name }: Part) => name)).toEqual(["Customers", "Top-ups", "Extension"]);
});

test.each([
  [{ deprecatedAt: EXAMPLE_TIME }, ["deprecation", "link"]],
  [{ sunsetAt: EXAMPLE_TIME }, ["link", "sunset"]],
  [{ deprecatedAt: EXAMPLE_TIME, sunsetAt: EXAMPLE_TIME }, ["deprecation", "link", "sunset"]],
])(
  "a version whose end is announced (%j) is marked in its document with the headers that say so, and no other is",
  async (end, names) => {
    const service = await startTestService(end);
    const operations = async (version: string) => {
      const { paths } = JSON.parse((await service.inject(`/openapi/${version}.json`)).body);
      return Object.values<Part>(paths).map(({ post, get }) => post ?? get);
    };
    const sent = await service.call("get-customer-information", { code: "1000001" }, { version: "v1.0.0" });
    for (const { deprecated, responses } of await operations("v1.0.0")) {
      expect(deprecated).toBe(true);
      for (const { headers } of Object.values<Part>(responses))
        expect(Object.keys(headers)).toEqual(expect.arrayContaining(names));
    }
    expect(Object.keys(sent.headers)).toEqual(expect.arrayContaining(names));
    for (const { deprecated, responses } of await operations("v1.0.1")) {
      expect(deprecated).toBeUndefined();
      for (const { headers } of Object.values<Part>(responses)) expect(Object.keys(headers)).not.toContain("link");
    }
  },
);

test("an answer that is not in the contract is found", () => {
  const body = { success: true, code: "400ab001", body: { result: {} } };
  expect(() => expectInContract("v1.0.1", "txn-status", 200, body)).toThrow(/required property 'orderId'/);
  expect(() => expectInContract("v1.0.1", "txn-status", 418, body)).toThrow(/no 418/);
  const failure = (reason: string, code: string, more = {}) => ({
    success: false,
    code,
    body: { reason, message: "", retry: "no", requestId: "", ...more },
  });
  expectInContract("v1.0.1", "txn-status", 404, failure("not_topped_up", "400ab107"));
  expect(() => expectInContract("v1.0.1", "txn-status", 404, failure("customer_not_found", "400aa101"))).toThrow(
    /allowed values/,
  );
  expect(() => expectInContract("v1.0.1", "txn-status", 404, failure("not_topped_up", "400ab107", { x: 1 }))).toThrow(
    /additional properties/,
  );
});

/** The path items of the interface, without the extension. */
function operationsIn(paths: Part): Part[] {
  return Object.values<Part>(paths).filter(({ post }) => post !== undefined);
}

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" };

/** The example's checkout: unused for the top-up, used for the query. */
async function checkoutFor(service: TestService, operation: OperationName): Promise<string> {
  const purchase = await prepareTopUp(service, FIBER, "TRIAL-NET-3M");
  if (operation === "txn-status") await service.call("subscription-package-topup", purchase);
  return purchase["checkoutId"] as string;
}

/** Replaces ids, which differ in each run. */
function withoutIds(answer: Part): Part {
  return JSON.parse(
    JSON.stringify(answer, (name, value) => {
      if (!["checkoutId", "orderId", "txnId"].includes(name)) return value;
      return String(value).replace(/[A-Za-z0-9_-]/g, "x");
    }),
  );
}
