import { expect, test } from "vitest";
import { PROBLEMS } from "../../src/faces/staff-api/problems.ts";
import { ROUTES } from "../../src/faces/staff-api/routes.ts";
import { shareStaffApi } from "../support/staff-api.ts";

const shared = shareStaffApi();

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into by name
type Part = any;

test("the document is read without a log-in, and has every route with its failures", async () => {
  const { status, json } = await shared().call("GET /openapi.json", { as: null });
  expect([status, json.openapi, json.info.version]).toEqual([200, "3.1.0", "0.0.0"]);
  const operations = Object.entries<Part>(json.paths).flatMap(([path, methods]) =>
    Object.entries<Part>(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const served = ROUTES.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
  expect(operations.map(({ name }) => name).toSorted()).toEqual(served.toSorted());
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(ROUTES.length);
  for (const { name, operation } of operations) {
    const isChanging = !name.startsWith("GET ");
    const isOpen = JSON.stringify(operation.security) === "[{}]";
    const responses = Object.keys(operation.responses);
    const expected = ["422", "500", "503", ...(isOpen ? [] : ["401"]), ...(isChanging ? ["403"] : [])];
    expect(responses, name).toEqual(expect.arrayContaining(expected));
    const hasKey = JSON.stringify(operation.parameters ?? []).includes("Idempotency-Key");
    const isReading = ["POST /audit/verification", "POST /reconciliations"].includes(name);
    const isRepeatable = isReading || name === "POST /confirmations";
    expect(hasKey, name).toBe(isChanging && !isOpen && !isRepeatable);
  }
  const codes = json.components.schemas.Problem.properties.code.enum;
  expect(codes).toEqual(Object.keys(PROBLEMS));
});
