import { REPORTS } from "../extension/report.ts";
import { REPORTED, type Report } from "../extension/shape.ts";
import { type Components, describeHeaders, hoist, type Json, jsonContent } from "./components.ts";
import { failureResponses, success } from "./envelopes.ts";

/** The path items of the reports. @param base the URL before their paths. */
export function describeReports(base: string, publicUrl: string, components: Components): Record<string, Json> {
  const servers = [{ url: base, description: "Reports have no version in their path." }];
  return Object.fromEntries(
    REPORTS.map((report) => [`/${report.name}`, { servers, get: describe(report, publicUrl, components) }]),
  );
}

function describe(report: Report, publicUrl: string, components: Components): Json {
  const { operationId, summary, description, parameters, body, example } = report;
  const title = operationId.charAt(0).toUpperCase() + operationId.slice(1);
  const answer = { success: true, code: REPORTED, body: example };
  const failing = {
    title: "Report",
    refusals: ["partner_suspended"],
    isTopUp: false,
    hasBody: false,
    announced: [],
  } as const;
  return {
    operationId,
    summary,
    description,
    tags: ["Extension"],
    externalDocs: { url: `${publicUrl}/docs/interface#extension`, description: "Every field." },
    parameters: Object.entries(parameters).map(([name, schema]) => ({
      name,
      in: "query",
      ...describeParameter(schema),
    })),
    responses: {
      "200": {
        description: "It was done.",
        headers: describeHeaders(["x-request-id", "cache-control"]),
        content: jsonContent(hoist(success(REPORTED, body, `${title}Answer`), components), [
          ["an answer", answer as Json],
        ]),
      },
      ...failureResponses(failing, components),
    },
  };
}

function describeParameter(schema: object): { readonly description: Json; readonly schema: Json } {
  const { description = "", ...rest } = schema as { readonly [name: string]: Json };
  return { description, schema: rest };
}
