import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { VERSIONS } from "../../../src/partner/versions/all.ts";
import { partnersOf } from "../../support/partners.ts";
import { fill } from "../../support/reports.ts";
import { START, startTestService } from "../../support/service.ts";
import { tool } from "../../support/tools.ts";

/* Programs that make clients from the OpenAPI document, and know nothing else of the service. */

interface Document {
  readonly servers: readonly [{ readonly url: string }];
}
type Days = { readonly from: string; readonly to: string };
const PATHS = {
  getAccount: "/partner/account",
  listAccountEntries: "/partner/account/entries",
  listTopUps: "/partner/top-ups",
} as const;
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by name
type Read = (report: keyof typeof PATHS, days?: Days) => Promise<any>;
type Making = (document: Document, headers: object) => Promise<Read>;

const CLIENTS: Readonly<Record<string, Making>> = {
  async "openapi-fetch"({ servers: [{ url: baseUrl }] }, headers) {
    const { default: createClient } = await import(tool("openapi-fetch/dist/index.mjs"));
    const client = createClient({ baseUrl, headers });
    return async (report, query) => (await client.GET(PATHS[report], { params: { query } })).data;
  },
  async "openapi-client-axios"(definition, headers) {
    const { OpenAPIClientAxios } = createRequire(tool("axios/package.json"))("openapi-client-axios");
    const client = await new OpenAPIClientAxios({ definition, axiosConfigDefaults: { headers } }).init();
    return async (report, days) => (await client[report](days)).data;
  },
};

test.each(
  Object.entries(CLIENTS).flatMap(([name, make]) => VERSIONS.map((version) => [name, version.name, make] as const)),
)("a client by %s of the document of %s reads the reports", async (_, version, make) => {
  const service = await startTestService();
  const origin = await service.app.listen({ host: "127.0.0.1", port: 0 });
  const txnIds = await fill(service, (await partnersOf(service.store).find("wallet"))?.id ?? 0, START, 3);
  const {
    servers: [{ url }],
    ...document
  } = (await (await fetch(`${origin}/openapi/${version}.json`)).json()) as Document;
  // As a provider with a public URL publishes it.
  const servers = [{ url: origin + url }] as const;
  const headers = { authorization: `Bearer ${service.trialToken}` };
  const read = await make({ ...document, servers }, headers);
  const days = { from: "2026-11-20", to: "2026-11-20" };
  expect((await read("getAccount")).body.balance).toBe(-3360);
  for (const list of ["listAccountEntries", "listTopUps"] as const) {
    const { body } = await read(list, days);
    expect(body.items.map(({ txnId }: { readonly txnId: string }) => txnId)).toEqual(txnIds);
  }
});
