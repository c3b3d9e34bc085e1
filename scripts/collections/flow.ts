import { replayed, sameResult, takeBouquet, takeConnection, takeResult } from "./chain.ts";
import { answers, type Check, explains } from "./checks.ts";
import {
  answerOf,
  exampleOf,
  fieldOf,
  type OpenApi,
  type Operation,
  operationOf,
  refusalOf,
  requestOf,
  resolve,
} from "./openapi.ts";

/** Variables that the user of a collection sets. No token is written into a collection. */
const SETTINGS = { base: "http://127.0.0.1:8080", token: "", code: "1000001", service: "internet" } as const;

/** One request of the flow. */
export interface Step {
  readonly name: string;
  /** Name of the step's file, without extension, if each step has a file. */
  readonly file: string;
  /** Markdown. */
  readonly description: string;
  /** After `base`. */
  readonly path: string;
  /** The body: constants of the document's example, and variables in double braces. */
  readonly body: Readonly<Record<string, string>>;
  /** The variables that the answer sets. */
  readonly gives: readonly string[];
  readonly checks: readonly Check[];
}

/** The flow of one version. */
export interface Flow {
  /** Values from the start. */
  readonly settings: Readonly<Record<keyof typeof SETTINGS, string>>;
  readonly steps: readonly Step[];
}

/**
 * The whole flow in the version of the document: each request takes from the answers before it.
 * @throws Error that says what the document lacks.
 */
export function flowOf(document: OpenApi): Flow {
  const lookUp = operationOf(document, "getCustomerInformation");
  const listing = operationOf(document, "getSubscriptionPackage");
  const topUp = operationOf(document, "subscriptionPackageTopup");
  const query = operationOf(document, "txnStatus");
  const success = ({ operation }: Found) =>
    answers(200, String(fieldOf(document, answerOf(document, operation), "code").const));
  const unknown = refusalOf(query.operation, "checkout_unknown");
  const { reason, retry } = unknown.body as { readonly reason: string; readonly retry: string };

  const steps: Draft[] = [
    {
      of: lookUp,
      gives: ["cuid", "reqId"],
      checks: [...success(lookUp), takeConnection(document, lookUp.operation)],
    },
    {
      of: listing,
      gives: ["checkoutId", "bouquetId", "amt"],
      checks: [...success(listing), takeBouquet(document, listing.operation)],
    },
    {
      of: topUp,
      gives: ["txnId"],
      checks: [
        ...success(topUp),
        takeResult(document, topUp.operation, Object.keys(SETTINGS)),
        replayed(document, topUp.operation, false),
      ],
    },
    {
      of: topUp,
      suffix: "the same again",
      remark: "The very same request once more, as a program sends it that lost the answer: nothing more is topped up.",
      checks: [
        ...success(topUp),
        sameResult("gives the same top-up, and no other"),
        replayed(document, topUp.operation, true),
      ],
    },
    { of: query, checks: [...success(query), sameResult("gives the top-up on record")] },
    {
      of: query,
      suffix: "an unknown checkout",
      remark: `Fails on purpose, to show how a refusal looks: HTTP status ${unknown.status}, code \`${unknown.code}\`, \`${reason}\`.`,
      changes: { checkoutId: "issued-by-nobody" },
      checks: [
        ...answers(unknown.status, unknown.code),
        explains(failureFields(document, query.operation, unknown.status), { reason, retry }),
      ],
    },
  ];
  const variables = [...Object.keys(SETTINGS), ...steps.flatMap(({ gives = [] }) => gives)];
  return {
    settings: { ...SETTINGS, base: SETTINGS.base + document.servers[0].url },
    steps: steps.map((draft, index) => finish(document, draft, index + 1, variables)),
  };
}

type Found = ReturnType<typeof operationOf>;

/** A step before the document's words are put in. */
interface Draft {
  readonly of: Found;
  /** Name that distinguishes requests of the same operation. */
  readonly suffix?: string;
  readonly remark?: string;
  readonly changes?: Readonly<Record<string, string>>;
  readonly gives?: readonly string[];
  readonly checks: readonly Check[];
}

function finish(document: OpenApi, draft: Draft, number: number, variables: readonly string[]): Step {
  const { of, suffix, remark, changes = {}, gives = [], checks } = draft;
  const { path, operation } = of;
  const fields = Object.entries(exampleOf(operation)).map(([name, value]) => [
    name,
    changes[name] ?? (variables.includes(name) ? `{{${name}}}` : value),
  ]);
  const words = [path.slice(path.lastIndexOf("/") + 1), ...(suffix?.split(" ") ?? [])];
  return {
    name: `${number}. ${operation.summary}${suffix === undefined ? "" : `: ${suffix}`}`,
    file: `${number}-${words.join("-")}`,
    description: [...(remark === undefined ? [] : [remark]), operation.description, table(document, operation)].join(
      "\n\n",
    ),
    path,
    body: Object.fromEntries(fields),
    gives,
    checks,
  };
}

/** The fields of a request as a Markdown table. */
function table(document: OpenApi, operation: Operation): string {
  const { required = [], properties = {} } = requestOf(document, operation);
  const rows = Object.entries(properties).map(
    ([name, { description = "" }]) => `| \`${name}\` | ${required.includes(name) ? "yes" : "no"} | ${description} |`,
  );
  return ["| Field | Required | Value |", "|---|---|---|", ...rows].join("\n");
}

/** The fields that the body of every refusal with that status has. */
function failureFields(document: OpenApi, operation: Operation, status: number): readonly string[] {
  const schema = operation.responses[status]?.content["application/json"].schema ?? {};
  return fieldOf(document, resolve(document, schema), "body").required ?? [];
}
