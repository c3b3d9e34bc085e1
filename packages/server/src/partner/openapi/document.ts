import type { TSchema } from "typebox";
import { FAULTS, PRACTICE_CUID, TOP_UP_OPERATION } from "../../domain/practice.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { headerNames } from "../call.ts";
import { contractOf, type OperationContract } from "../operations.ts";
import { NOT_RETIRED, type Retirement, retirementHeaders, type Version } from "../versions/version.ts";
import { type Components, describeHeaders, hoist, type Json, jsonContent, type Shared } from "./components.ts";
import { failureResponses, success } from "./envelopes.ts";
import { type Example, makeExamples } from "./examples.ts";
import { describeReports } from "./reports.ts";

interface DocumentOptions {
  /** The path before the version, in every URL. */
  readonly prefix: string;
  /** Scheme, host and port that partners use; undefined: those of the document. */
  readonly publicUrl: string | undefined;
  readonly provider: ProviderSettings;
  /** The announced end of the version. */
  readonly retirement: Retirement | undefined;
}

export type OpenApiDocument = Readonly<Record<string, Json>>;

/** The OpenAPI 3.1 document of one version, made of the schemas that read requests and write answers. */
export function openApiDocument(version: Version, options: DocumentOptions): OpenApiDocument {
  const { prefix, publicUrl = "", provider } = options;
  const announced = headerNames(retirementHeaders(options.retirement ?? NOT_RETIRED, ""));
  const components: Components = {};
  const shared: Shared = { exponent: provider.currencyExponent, announced, components, publicUrl };
  const contract = contractOf(version);
  const examples = makeExamples(provider.currencyExponent);
  const paths = {
    [`/${contract.lookUp.name}`]: describe("getCustomerInformation", contract.lookUp, examples.lookUp, shared),
    [`/${contract.listing.name}`]: describe("getSubscriptionPackage", contract.listing, examples.listing, shared),
    [`/${contract.topUp.name}`]: describe("subscriptionPackageTopup", contract.topUp, examples.topUp, shared),
    [`/${contract.query.name}`]: describe("txnStatus", contract.query, examples.query, shared),
    ...describeReports(shared),
  };
  return {
    openapi: "3.1.0",
    info: introduce(version, provider),
    servers: [
      { url: `${publicUrl}${prefix}/${version.name}`, description: "The service that this document comes from." },
    ],
    externalDocs: { url: `${publicUrl}/docs/partner-guide`, description: "The partner's guide." },
    security: [{ accessToken: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({
      name,
      description,
      externalDocs: { url: `${publicUrl}/docs/failures`, description: "Every failure, and what to do." },
    })),
    paths,
    components: {
      securitySchemes: {
        accessToken: { type: "http", scheme: "bearer", description: "The access token that the provider gave you." },
      },
      schemas: components,
    },
  };
}

function describe<Request, Answer>(
  operationId: string,
  operation: OperationContract<Request, Answer>,
  shown: Readonly<Record<string, Example<Answer>>>,
  { exponent, announced, components, publicUrl }: Shared,
): Json {
  const { code, rendering, refusals } = operation;
  const title = operationId.charAt(0).toUpperCase() + operationId.slice(1);
  const isTopUp = operation.name === TOP_UP_OPERATION;
  const request = operation.request.schema(exponent);
  const examples = Object.entries(shown);
  const requests = examples.map(([name, example]) => [name, only(example.request, request)] as const);
  const answers = examples.map(([name, { answer }]) => {
    return [name, { success: true, code, body: rendering.render(answer, exponent) as Json }] as const;
  });
  const headers = ["x-request-id", "cache-control", ...announced, ...(isTopUp ? ["idempotent-replayed"] : [])];
  return {
    post: {
      operationId,
      summary: operation.summary,
      description: operation.description,
      tags: [operation.tag],
      externalDocs: {
        url: `${publicUrl}/docs/interface#${operation.name}`,
        description: "Every field, with examples.",
      },
      ...(announced.length > 0 && { deprecated: true }),
      requestBody: {
        required: true,
        content: jsonContent(hoist({ ...request, title: `${title}Request` }, components), requests),
      },
      responses: {
        "200": {
          description: "It was done.",
          headers: describeHeaders(headers),
          content: jsonContent(hoist(success(code, rendering.schema, `${title}Answer`), components), answers),
        },
        ...failureResponses({ title, refusals, isTopUp, hasBody: true, announced }, components),
      },
    },
  };
}

function introduce({ name, successor }: Version, { zone, currencyExponent }: ProviderSettings): Json {
  return {
    title: "Subscription Top-up Service Interface",
    version: name.slice(1),
    summary: "Look up a customer, list packages, top up, and ask what became of it.",
    description: [
      successor === undefined
        ? "The current version."
        : `An older version. Its successor is ${successor}; both stay, and a checkoutId of one works on the other.`,
      "1. `get-customer-information` finds the customer and the connections.\n2. `get-subscription-package` lists what can be bought for one of them, and gives a `checkoutId`: store it with your order before you go on.\n3. `subscription-package-topup` buys, and answers when that is safely on disk.\n4. `txn-status` says what became of it. Call it after every top-up, and whenever an answer was lost.",
      `Amounts are in major units with at most ${currencyExponent} decimals. Timestamps are in the time zone ${zone.name}.`,
      "A failure says in `body.retry` what a program does next. Paths that do not exist are answered with 404 `unknown_operation`, other methods with 405 `method_not_allowed`.",
      `In the trial environment, practise lost and late answers with customer \`${PRACTICE_CUID}\`. Each of its internet connections has one fault: ${FAULTS.map(({ name }) => `\`${name}\``).join(", ")}.`,
      "Put questions to the provider, with the `X-Request-Id` of the answer.",
    ].join("\n\n"),
    // No address: the provider of the deployment is the contact.
    contact: { name: "topupd" },
    license: { name: "MIT", identifier: "MIT" },
  };
}

const TAGS = {
  Customers: "Who the customer is, and what can be bought.",
  "Top-ups": "Buying it, and asking what became of it.",
  Extension: "What you sold, and your account. Only topupd has this: it is no part of the interface.",
} as const;

/** The fields of an example that the version's request has. */
function only(request: object, schema: TSchema): Json {
  const known = Object.keys((schema as unknown as { readonly properties: object }).properties);
  return Object.fromEntries(Object.entries(request).filter(([name]) => known.includes(name))) as Json;
}
