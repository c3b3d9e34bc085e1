import { type TSchema, Type } from "typebox";
import type { ProviderSettings } from "../../store/store.ts";
import { contractOf, type OperationContract, TOP_UP_OPERATION } from "../contract.ts";
import { NOT_RETIRED, type Retirement, retirementHeaders } from "../retirement.ts";
import type { Version } from "../versions/version.ts";
import { type Components, hoist, type Json } from "./components.ts";
import { type Example, makeExamples } from "./examples.ts";
import { failureResponses } from "./failure-responses.ts";
import { describeHeaders } from "./headers.ts";
import { introduce } from "./introduction.ts";

export interface DocumentOptions {
  /** What stands before the version in every path. */
  readonly prefix: string;
  readonly provider: ProviderSettings;
  /** What the provider has announced of the version's end. */
  readonly retirement: Retirement | undefined;
}

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = Readonly<Record<string, Json>>;

/** The contract of one version, made of the schemas by which its requests are read and its answers written. */
export function openApiDocument(version: Version, options: DocumentOptions): OpenApiDocument {
  const { prefix, provider } = options;
  const announced = Object.keys(retirementHeaders(options.retirement ?? NOT_RETIRED, ""));
  const contract = contractOf(version);
  const examples = makeExamples(provider.currencyExponent);
  const components: Components = {};
  const describe = <Request, Answer>(
    operationId: string,
    operation: OperationContract<Request, Answer>,
    shown: Readonly<Record<string, Example<Answer>>>,
    headers: readonly string[] = [],
  ) => {
    const title = capitalize(operationId);
    const isTopUp = operation.name === TOP_UP_OPERATION;
    const request = operation.request.schema(provider.currencyExponent);
    const answers = Object.entries(shown).map(([name, { answer }]) => {
      const body = operation.rendering.render(answer, provider.currencyExponent) as Json;
      return [name, { value: { success: true, code: operation.code, body } }] as const;
    });
    return {
      post: {
        operationId,
        summary: operation.summary,
        description: operation.description,
        tags: [operation.tag],
        ...(announced.length > 0 && { deprecated: true }),
        requestBody: {
          required: true,
          content: {
            "application/json": {
              schema: hoist({ ...request, title: `${title}Request` }, components),
              examples: Object.fromEntries(
                Object.entries(shown).map(([name, example]) => [name, { value: only(example.request, request) }]),
              ),
            },
          },
        },
        responses: {
          "200": {
            description: "It was done.",
            headers: describeHeaders(["x-request-id", "cache-control", ...announced, ...headers]),
            content: {
              "application/json": {
                schema: hoist(success(operation, `${title}Answer`), components),
                examples: Object.fromEntries(answers),
              },
            },
          },
          ...failureResponses({ title, refusals: operation.refusals, isTopUp, announced }, components),
        },
      },
    };
  };
  const paths = {
    [`/${contract.lookUp.name}`]: describe("getCustomerInformation", contract.lookUp, examples.lookUp),
    [`/${contract.listing.name}`]: describe("getSubscriptionPackage", contract.listing, examples.listing),
    [`/${contract.topUp.name}`]: describe("subscriptionPackageTopup", contract.topUp, examples.topUp, [
      "idempotent-replayed",
    ]),
    [`/${contract.query.name}`]: describe("txnStatus", contract.query, examples.query),
  };
  return {
    openapi: "3.1.0",
    info: introduce(version, provider),
    servers: [{ url: `${prefix}/${version.name}`, description: "The service that this document comes from." }],
    security: [{ accessToken: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        accessToken: { type: "http", scheme: "bearer", description: "The access token that the provider gave you." },
      },
      schemas: components,
    },
  };
}

const TAGS = {
  Customers: "Who the customer is, and what can be bought.",
  "Top-ups": "Buying it, and asking what became of it.",
} as const;

function success<Request, Answer>({ code, rendering }: OperationContract<Request, Answer>, title: string): TSchema {
  return Type.Object(
    {
      success: Type.Boolean({ const: true, description: "True on a success." }),
      code: Type.String({ const: code, description: "The code of this operation's success." }),
      body: rendering.schema,
    },
    { title, description: "What was asked for." },
  );
}

/** The fields of an example that the version's request has. */
function only(request: object, schema: TSchema): Json {
  const known = Object.keys((schema as unknown as { readonly properties: object }).properties);
  return Object.fromEntries(Object.entries(request).filter(([name]) => known.includes(name))) as Json;
}

function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
