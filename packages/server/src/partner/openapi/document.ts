import { STATUS_CODES } from "node:http";
import { type TSchema, Type } from "typebox";
import { type FieldProblem, IDENTIFIER_MAX_LENGTH } from "../../domain/fields.ts";
import type { CurrencyExponent } from "../../domain/money.ts";
import { FAULTS, PRACTICE_CUID, TOP_UP_OPERATION } from "../../domain/practice.ts";
import type { ProviderSettings } from "../../store/store.ts";
import { headerNames } from "../call.ts";
import { FAILURES, type FailureDetail, type FailureReason, RETRIES, renderFailure } from "../failures.ts";
import { contractOf, type OperationContract } from "../operations.ts";
import { NOT_RETIRED, type Retirement, retirementHeaders, type Version } from "../versions/version.ts";
import { type Components, describeHeaders, hoist, type Json, jsonContent } from "./components.ts";
import { type Example, makeExamples } from "./examples.ts";

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

interface Shared {
  readonly exponent: CurrencyExponent;
  /** Further headers of every answer of the version. */
  readonly announced: readonly string[];
  /** Each operation adds its schemas here. */
  readonly components: Components;
  readonly publicUrl: string;
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
          content: jsonContent(hoist(success(operation, `${title}Answer`), components), answers),
        },
        ...failureResponses({ title, refusals, isTopUp, announced }, components),
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
      "A failure says in `body.retry` what a program does next. Paths that do not exist are answered with 404 `unknown_operation`, other methods than POST with 405 `method_not_allowed`.",
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

/** Failures that every operation has. */
const ALWAYS: readonly FailureReason[] = [
  "malformed_json",
  "invalid_field",
  "missing_token",
  "unknown_token",
  "expired_token",
  "revoked_token",
  "address_not_allowed",
  "body_too_large",
  "unsupported_media_type",
  "rate_limited",
  "internal_error",
  "unavailable",
];

const EXAMPLE_REQUEST_ID = "4e21cd0cdd2711a0b3";
const EXAMPLE_PROBLEMS: readonly FieldProblem[] = [
  { field: "reqId", problem: "is required" },
  { field: "cuid", problem: `must have at most ${IDENTIFIER_MAX_LENGTH} characters` },
];

const EXAMPLE_DETAILS: Readonly<Partial<Record<FailureReason, FailureDetail>>> = {
  invalid_field: { fields: EXAMPLE_PROBLEMS },
  rate_limited: { policy: { name: "calls", quota: 50, windowMs: 1000 }, retryAfterSeconds: 1 },
};

interface Failing {
  /** Prefix for the names of this operation's own schemas. */
  readonly title: string;
  readonly refusals: readonly FailureReason[];
  readonly isTopUp: boolean;
  /** Further headers of every answer of the version. */
  readonly announced: readonly string[];
}

/** The responses for all refusals and failures of an operation, by HTTP status. */
function failureResponses(failing: Failing, components: Components): Record<string, Json> {
  const reasons = [...failing.refusals, ...ALWAYS];
  const statuses = [...new Set(reasons.map((reason) => FAILURES[reason].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const own = reasons.filter((reason) => FAILURES[reason].status === status);
      const isShared = own.every((reason) => ALWAYS.includes(reason));
      const schema = failureSchema(own, `${isShared ? "" : failing.title}Failure${status}`);
      return [String(status), failureResponse(status, own, failing, hoist(schema, components))];
    }),
  );
}

function failureResponse(
  status: number,
  reasons: readonly FailureReason[],
  { isTopUp, announced }: Failing,
  schema: Json,
): Json {
  const answers = reasons.map((reason) => {
    return [reason, renderFailure(reason, EXAMPLE_REQUEST_ID, { isTopUp, ...EXAMPLE_DETAILS[reason] })] as const;
  });
  const headers = answers.flatMap(([, answer]) => headerNames(answer.headers));
  return {
    description: `${STATUS_CODES[status]}: ${reasons.map((reason) => `\`${reason}\``).join(", ")}.`,
    headers: describeHeaders(["x-request-id", ...announced, ...headers]),
    content: jsonContent(
      schema,
      answers.map(([reason, { body }]) => [reason, JSON.parse(body) as Json]),
    ),
  };
}

const message = Type.String({
  description: "A sentence on what is wrong and what to do. Its wording may change: do not compare it.",
});

const retry = Type.String({
  enum: [...RETRIES],
  description:
    "What a program does next: `fix_request` correct it first; `same_request` send it again later, unchanged; `new_checkout` list again and use the new checkoutId; `query_status` call txn-status before anything else; `no` a person has to act.",
});

const requestId = Type.String({ description: "The same as in X-Request-Id. Quote it to the provider." });

const fields = Type.Array(
  Type.Object(
    {
      field: Type.String({ description: "The name of the field." }),
      problem: Type.String({ description: "What is wrong with it. Never holds its value." }),
    },
    { title: "FieldProblem", description: "What is wrong with one field." },
  ),
  { description: "Everything that is wrong with the request." },
);

/** The envelope of a failure with one of these reasons. */
function failureSchema(reasons: readonly FailureReason[], title: string): TSchema {
  return Type.Object(
    {
      success: Type.Boolean({ const: false, description: "False on a failure." }),
      code: Type.String({
        enum: reasons.map((reason) => FAILURES[reason].code),
        description: "What went wrong, for tables. A code never changes its meaning.",
      }),
      body: Type.Object(
        {
          reason: Type.String({ enum: [...reasons], description: "What went wrong: a name for the code." }),
          message,
          retry,
          requestId,
          ...(reasons.includes("invalid_field") && { fields: Type.Optional(fields) }),
        },
        { description: "What went wrong, and what to do." },
      ),
    },
    { title, description: "A request that was refused or failed." },
  );
}
