import type { Refusal } from "../domain/failure.ts";
import type { JsonObject } from "../domain/json.ts";
import { TOP_UP_OPERATION } from "../domain/practice.ts";
import type { Transaction } from "../domain/transaction.ts";
import type { Outcome, Route, Sending } from "./call.ts";
import {
  type CustomerInformation,
  type LookUpRequest,
  listPackages,
  lookUpCustomer,
  type Packages,
  type PackagesRequest,
} from "./customers.ts";
import { JSON_TYPE, NEVER_KEPT } from "./failures.ts";
import { limitLookUps } from "./look-ups.ts";
import type { Caller, Ports } from "./ports.ts";
import { type Faulty, faultyOutcome, practiseQuery, practiseTopUp } from "./practice.ts";
import { LISTING, LOOK_UP, type RequestForm, TRANSACTION_QUERY } from "./requests.ts";
import { queryTransaction, type TopUpAnswer, type TopUpRequest, type TransactionQuery, topUp } from "./top-ups.ts";
import { VERSIONS } from "./versions/all.ts";
import type { Rendering, Version } from "./versions/version.ts";

/** Success codes. */
const LOOKED_UP = "400aa010";
const SETTLED = "400ab001";

const QUERY_OPERATION = "txn-status";

/** One operation of one version, for its route and its OpenAPI document. */
export interface OperationContract<Request, Answer> {
  /** The last part of the path. */
  readonly name: string;
  readonly tag: "Customers" | "Top-ups";
  readonly summary: string;
  readonly description: string;
  /** The code of a success. */
  readonly code: string;
  readonly request: RequestForm<Request>;
  readonly rendering: Rendering<Answer>;
  /** The refusals of this operation, without those of every request. */
  readonly refusals: readonly Refusal[];
}

interface Contract {
  readonly lookUp: OperationContract<LookUpRequest, CustomerInformation>;
  readonly listing: OperationContract<PackagesRequest, Packages>;
  readonly topUp: OperationContract<TopUpRequest, TopUpAnswer>;
  readonly query: OperationContract<TransactionQuery, Transaction>;
}

const CONNECTION_REFUSALS = [
  "partner_suspended",
  "customer_not_found",
  "connection_not_found",
  "customer_inactive",
  "connection_blocked",
] as const;

/** The four operations of a version. */
export function contractOf(version: Version): Contract {
  return {
    lookUp: {
      name: "get-customer-information",
      tag: "Customers",
      summary: "Find a customer",
      description: "Finds a customer with all connections by one code that the customer gives.",
      code: LOOKED_UP,
      request: LOOK_UP,
      rendering: version.customerInformation,
      refusals: ["partner_suspended", "customer_not_found", "ambiguous_code"],
    },
    listing: {
      name: "get-subscription-package",
      tag: "Customers",
      summary: "List packages, and get a checkoutId",
      description:
        "Lists what runs on one connection and what can be bought for it, and issues a checkoutId that is good for one top-up within five minutes.",
      code: LOOKED_UP,
      request: LISTING,
      rendering: version.packages,
      refusals: CONNECTION_REFUSALS,
    },
    topUp: {
      name: TOP_UP_OPERATION,
      tag: "Top-ups",
      summary: "Top up",
      description:
        "Buys one bouquet for the connection, and answers when that is safely on disk. The same request sent again with the same checkoutId is answered with the same result, and tops up nothing more. When no answer comes, ask txn-status.",
      code: SETTLED,
      request: version.topUp,
      rendering: {
        schema: version.transaction.schema,
        render: ({ transaction }, exponent) => version.transaction.render(transaction, exponent),
      },
      refusals: [
        ...CONNECTION_REFUSALS,
        "checkout_unknown",
        "checkout_expired",
        "checkout_used",
        "checkout_mismatch",
        "bouquet_unavailable",
        "amount_mismatch",
        "insufficient_balance",
        "limit_reached",
      ],
    },
    query: {
      name: QUERY_OPERATION,
      tag: "Top-ups",
      summary: "Ask what became of a top-up",
      description:
        "Tells the result of the top-up that was made with a checkoutId, or that there is none so far, or that there never will be one.",
      code: SETTLED,
      request: TRANSACTION_QUERY,
      rendering: version.transaction,
      refusals: ["checkout_unknown", "not_topped_up", "never_topped_up"],
    },
  };
}

const SUCCESS_HEADERS = ["cache-control", NEVER_KEPT, "content-type", JSON_TYPE];
const REPLAY_HEADERS = [...SUCCESS_HEADERS, "idempotent-replayed", "true"];

/** The route of one operation of one version. */
export interface Operation extends Route {
  /** The query parameters of a GET; undefined for a POST. */
  readonly parameters?: readonly string[];
  readonly isTopUp: boolean;
  readonly isQuery: boolean;
  /** @param fields of the body, or of the query. */
  readonly serve: (caller: Caller, fields: JsonObject) => Promise<Outcome>;
}

interface OperationOptions {
  readonly ports: Ports;
  /** The path before the version, in every URL. */
  readonly prefix: string;
  /** Days that an ended subscription stays listed. */
  readonly lapsedDays: number;
  /** Headers of every answer of a version. */
  readonly headersOf: (version: Version) => readonly string[];
}

/** The four operations of every version. */
export function operationsOf({ ports, prefix, lapsedDays, headersOf }: OperationOptions): Operation[] {
  const { currencyExponent } = ports.store.provider;
  const limit = limitLookUps(ports);
  const make = <Request, Done>(
    version: Version,
    { name, code, request: form, rendering }: OperationContract<Request, Done>,
    run: (caller: Caller, request: Request) => Promise<Faulty<Done>>,
    isReplay: (done: Done) => boolean = () => false,
  ): Operation => {
    const writeWhole: typeof rendering.write = (ofSuccess, answer, exponent) =>
      JSON.stringify({ success: true, code: ofSuccess, body: rendering.render(answer, exponent) });
    const { write = writeWhole } = rendering;
    const isTopUp = name === TOP_UP_OPERATION;
    return {
      url: `${prefix}/${version.name}/${name}`,
      operation: { name, version: version.name },
      headers: headersOf(version),
      isTopUp,
      isQuery: name === QUERY_OPERATION,
      async serve(caller, fields) {
        const reading = form.read(fields, currencyExponent);
        if (!reading.ok) return { ok: false, reason: "invalid_field", fields: reading.problems };
        const result = await run(caller, reading.value);
        const faulty = result.answering && faultyOutcome(result.answering, isTopUp);
        if (faulty !== undefined) return faulty;
        if (!result.ok) return { ok: false, reason: result.refusal, ...result.detail };
        const replays = isReplay(result.value);
        const body = write(code, result.value, currencyExponent);
        return {
          ok: true,
          answer: { status: 200, headers: replays ? REPLAY_HEADERS : SUCCESS_HEADERS, body },
          isReplay: replays,
          sending: result.answering as Sending | undefined,
        };
      },
    };
  };
  return VERSIONS.flatMap((version) => {
    const { lookUp, listing, topUp: purchase, query } = contractOf(version);
    return [
      make(version, lookUp, async (caller, request) => {
        const found = await lookUpCustomer(ports, caller, request);
        return (await limit(caller, found.ok ? found.value.customer.cuid : request.code)) ?? found;
      }),
      make(
        version,
        listing,
        async (caller, request) =>
          (await limit(caller, request.cuid)) ?? listPackages(ports, caller, request, lapsedDays),
      ),
      make(
        version,
        purchase,
        (caller, request) =>
          caller.environment === "trial" ? practiseTopUp(ports, caller, request) : topUp(ports, caller, request),
        ({ replayed }) => replayed,
      ),
      make(version, query, (caller, request) =>
        caller.environment === "trial"
          ? practiseQuery(ports, caller, request)
          : queryTransaction(ports, caller, request),
      ),
    ];
  });
}
