import { expect, test } from "vitest";
import { ROUTES } from "../../src/faces/staff-api/routes.ts";
import { readEntries } from "../../src/office/audit/sql.ts";
import { startStaffApi } from "../support/staff-api.ts";

test("each export has an entry in the audit trail, with its filter but no personal data", async () => {
  const api = await startStaffApi();
  await api.call("POST /partners", { body: { name: "Blue Wallet" } });
  const query: Readonly<Record<string, string>> = {
    "/settlement.csv": "?from=2026-11-01&to=2026-11-02&detail=day",
    "/partners/:name/statement.csv": "?month=2026-11",
    "/transactions.csv": "?cuid=204117&udf1=9841000000&service=tv&settled=false",
  };
  const exports = ROUTES.filter(({ answer }) => answer === "csv").map(({ path }) => path);
  for (const path of exports)
    await api.call(`GET ${path.replace(":name", "Blue%20Wallet").replace(":id", "7")}${query[path] ?? ""}`);
  await api.call("GET /connections.csv?search=Rai", { as: "viewer" });
  const entries = await readEntries(api.service.store.engine.db, 0, 100);
  const audited = entries.filter(({ action }) => action === "data.export");
  expect(audited.map(({ author, subject, after }) => [author, subject, JSON.parse(after ?? "")])).toEqual(
    expect.arrayContaining([
      ["key admin", "transactions.csv", { cuid: "not recorded", udf1: "not recorded", service: "tv", settled: false }],
      ["key admin", "settlement.csv", { from: "2026-11-01", to: "2026-11-02", detail: "day" }],
      ["key admin", "partners/Blue Wallet/statement.csv", { month: "2026-11" }],
      ...["connections", "customers", "catalogue", "audit"].map((name) => ["key admin", `${name}.csv`, {}]),
      ["key viewer", "connections.csv", { search: "not recorded" }],
    ]),
  );
  // The bulk change does not exist.
  expect(audited).toHaveLength(exports.length);
  const { text } = await api.call("GET /audit.csv");
  expect(text.trimEnd().split("\r\n").at(-1)).toContain("data.export,audit.csv");
});

test("a spreadsheet takes no cell of an export for a formula", async () => {
  const api = await startStaffApi();
  const body = {
    ...{ cuid: "204117", first_name: '=HYPERLINK("http://evil.example")', last_name: "-1+1", area: "@SUM(A1)" },
    ...{ status: "active", connections: { internet: [{ username: "sita", status: "active" }] } },
  };
  expect((await api.call("PUT /customers/204117?environment=production", { body })).status).toBe(200);
  for (const path of ["/customers.csv", "/connections.csv"]) {
    const { text } = await api.call(`GET ${path}?environment=production`);
    expect(text, path).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
    for (const guarded of ["'-1+1", "'@SUM(A1)"]) expect(text, path).toContain(`,${guarded}`);
  }
});
