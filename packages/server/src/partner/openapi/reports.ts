import { REPORTS } from "../extension/report.ts";
import { REPORTED, type Report } from "../extension/shape.ts";
import { describeHeaders, hoist, type Json, jsonContent, type Shared } from "./components.ts";
import { failureResponses, success } from "./envelopes.ts";

/** The path items of the reports. */
export function describeReports(shared: Shared): Record<string, Json> {
  return Object.fromEntries(REPORTS.map((report) => [`/${report.name}`, { get: describe(report, shared) }]));
}

function describe(report: Report, { publicUrl, components, announced }: Shared): Json {
  const { operationId, summary, description, parameters, body, example } = report;
  const title = operationId.charAt(0).toUpperCase() + operationId.slice(1);
  const answer = { success: true, code: REPORTED, body: example };
  const failing = {
    title: "Report",
    refusals: ["partner_suspended"],
    isTopUp: false,
    hasBody: false,
    announced,
  } as const;
  return {
    operationId,
    summary,
    description,
    tags: ["Extension"],
    externalDocs: { url: `${publicUrl}/docs/interface#extension`, description: "Every field." },
    ...(announced.length > 0 && { deprecated: true }),
    parameters: Object.entries(parameters).map(([name, schema]) => ({
      name,
      in: "query",
      ...describeParameter(schema),
    })),
    responses: {
      "200": {
        description: "It was done.",
        headers: describeHeaders(["x-request-id", "cache-control", ...announced]),
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
