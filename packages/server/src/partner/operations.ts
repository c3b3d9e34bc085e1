import type { Result } from "../domain/failure.ts";
import type { FieldProblem } from "../domain/fields.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Answer, Route } from "./call.ts";
import { contractOf, type OperationContract, QUERY_OPERATION, TOP_UP_OPERATION } from "./contract.ts";
import { type FailureReason, JSON_TYPE, NEVER_KEPT } from "./failures.ts";
import { listPackages } from "./list-packages.ts";
import { lookUpCustomer } from "./look-up-customer.ts";
import type { Caller, Ports } from "./ports.ts";
import { queryTransaction } from "./query-transaction.ts";
import { topUp } from "./top-up.ts";
import { VERSIONS, type Version } from "./versions/version.ts";

const SUCCESS_HEADERS = ["cache-control", NEVER_KEPT, "content-type", JSON_TYPE];
const REPLAY_HEADERS = [...SUCCESS_HEADERS, "idempotent-replayed", "true"];

/** What became of a call. */
export type Outcome =
  | { readonly ok: true; readonly answer: Answer; readonly isReplay: boolean }
  | { readonly ok: false; readonly reason: FailureReason; readonly fields?: readonly FieldProblem[] };

/** The route of one operation of one version. */
export interface Operation extends Route {
  readonly isTopUp: boolean;
  readonly isQuery: boolean;
  /** Reads the fields of a body, and does what is asked. */
  readonly serve: (caller: Caller, body: JsonObject) => Promise<Outcome>;
}

export interface OperationOptions {
  readonly ports: Ports;
  /** What stands before the version in every path. */
  readonly prefix: string;
  /** For how many days a subscription that has ended stays listed. */
  readonly lapsedDays: number;
  /** What every answer of a version has. */
  readonly headersOf: (version: Version) => readonly string[];
}

/** The four operations of every version. */
export function operationsOf({ ports, prefix, lapsedDays, headersOf }: OperationOptions): Operation[] {
  const { currencyExponent } = ports.store.provider;
  const make = <Request, Done>(
    version: Version,
    { name, code, request: form, rendering }: OperationContract<Request, Done>,
    run: (caller: Caller, request: Request) => Promise<Result<Done>>,
    isReplay: (done: Done) => boolean = () => false,
  ): Operation => {
    const writeAnew: typeof rendering.write = (ofSuccess, answer, exponent) =>
      JSON.stringify({ success: true, code: ofSuccess, body: rendering.render(answer, exponent) });
    const { write = writeAnew } = rendering;
    return {
      url: `${prefix}/${version.name}/${name}`,
      operation: { name, version: version.name },
      headers: headersOf(version),
      isTopUp: name === TOP_UP_OPERATION,
      isQuery: name === QUERY_OPERATION,
      async serve(caller, fields) {
        const reading = form.read(fields, currencyExponent);
        if (!reading.ok) return { ok: false, reason: "invalid_field", fields: reading.problems };
        const result = await run(caller, reading.value);
        if (!result.ok) return { ok: false, reason: result.refusal };
        const replays = isReplay(result.value);
        const body = write(code, result.value, currencyExponent);
        return {
          ok: true,
          answer: { status: 200, headers: replays ? REPLAY_HEADERS : SUCCESS_HEADERS, body },
          isReplay: replays,
        };
      },
    };
  };
  return VERSIONS.flatMap((version) => {
    const { lookUp, listing, topUp: purchase, query } = contractOf(version);
    return [
      make(version, lookUp, (caller, request) => lookUpCustomer(ports, caller, request)),
      make(version, listing, (caller, request) => listPackages(ports, caller, request, lapsedDays)),
      make(
        version,
        purchase,
        (caller, request) => topUp(ports, caller, request),
        ({ replayed }) => replayed,
      ),
      make(version, query, (caller, request) => queryTransaction(ports, caller, request)),
    ];
  });
}
