import { expect, test } from "vitest";
import { type Input, type Key, requestOf } from "../src/api/request.ts";

const partsOf = <K extends Key>(key: K, input: Input<K>) => {
  const { path, query, body } = requestOf(key, input);
  return [path, query, body];
};

test("fields that the path names go into the path, with any character", () => {
  const cuid = "10/20 ä";
  expect(partsOf("GET /customers/:cuid", { cuid, environment: "trial" })).toEqual([
    "/customers/10%2F20%20%C3%A4",
    { environment: "trial" },
    undefined,
  ]);
});

test("fields of a GET go into the query", () => {
  const input = { environment: "trial", from: "2026-11-20", cursor: undefined } as const;
  expect(partsOf("GET /transactions", input)).toEqual(["/transactions", input, undefined]);
});

test("fields of a change go into the body, without environment and preview", () => {
  const [connection, change] = [{ service: "tv", reqId: "1" } as const, { days: 3, reason: "outage" }];
  const [context, cuid] = [{ environment: "production", preview: true } as const, "204117"];
  expect(partsOf("POST /customers/:cuid/goodwill", { ...context, ...connection, ...change, cuid })).toEqual([
    "/customers/204117/goodwill",
    context,
    { ...connection, ...change },
  ]);
});

test("fields beside a file go into the query", () => {
  const file = new File(["{}"], "catalogue.ndjson");
  const rest = { environment: "production", allowLargeChange: true } as const;
  expect(partsOf("POST /catalogue", { ...rest, file })).toEqual(["/catalogue", rest, file]);
});

test("a request without fields has no body", () => {
  expect(requestOf("DELETE /tokens/:id", { id: "tok_1" })).toEqual({
    method: "DELETE",
    path: "/tokens/tok_1",
    query: {},
    body: undefined,
  });
});
