import type { FakeOptions, Request } from "./fake-provider.ts";
import type { Answer } from "./fake-rules.ts";

/** A service with one thing wrong, and the checks that must say so: these and no others. */
export interface Mutant {
  readonly name: string;
  readonly caught: readonly string[];
  /** A function where the fake has to remember something. */
  readonly change: FakeOptions | (() => FakeOptions);
  /** The version in which it is caught, or `versions` where it is by both side by side; each of both unless said. */
  readonly only?: "v1.0.1" | "v1.0.0" | "versions";
}

export const LOOK_UP = "get-customer-information";
export const LISTING = "get-subscription-package";
export const TOP_UP = "subscription-package-topup";
export const QUERY = "txn-status";

// biome-ignore lint/suspicious/noExplicitAny: an answer is changed into all kinds of things
type Change = (json: any, request: Request) => void;

/** Changes the successes of some operations. */
export function on(operations: string | readonly string[], change: Change): FakeOptions {
  const all = [operations].flat();
  return {
    rewrite: ({ json }: Answer, request: Request) => {
      if (all.includes(request.operation) && json.success === true) change(json, request);
    },
  };
}

/** Changes the customer and the connections of a look-up, wherever they stand. */
export function onConnections(change: Change): FakeOptions {
  return on(LOOK_UP, ({ body }, request) => change(body.connection ?? body.customer.connections, request));
}

/** Changes what stands under the service's key in a listing. */
export function onPackages(change: Change): FakeOptions {
  return on(LISTING, ({ body }, request) => change(body[request.fields["service"] as string], request));
}

export function onResult(operations: string | readonly string[], change: Change): FakeOptions {
  return on(operations, ({ body }, request) => change(body.result, request));
}

/** Changes the failures with one reason. */
export function onFailure(reason: string, change: (answer: Answer, request: Request) => void): FakeOptions {
  return {
    rewrite: (answer, request) => {
      if (answer.json.success === false && answer.json.body.reason === reason) change(answer, request);
    },
  };
}

/** A failure with another HTTP status, which only the check of that failure asks for. */
export function wrongStatus(id: string, reason: string, isOf: (request: Request) => boolean = () => true): Mutant {
  const change = onFailure(reason, (answer, request) => {
    if (isOf(request)) answer.status = 418;
  });
  return { name: `${reason} with another HTTP status, for ${id}`, caught: [id], change };
}

/** Takes in one operation what it should refuse for a reason. */
export function takes(reason: string, operation: string): FakeOptions {
  return { isLenient: (wrong, request) => wrong === reason && request.operation === operation };
}

/** Turns an answer into a failure of topupd. */
export function fail(answer: Answer, reason: string, code: string, status: number, retry: string): void {
  const requestId = answer.headers["x-request-id"];
  answer.status = status;
  answer.json = { success: false, code, body: { reason, message: "It is refused.", retry, requestId } };
}

export function changeOf({ change }: Mutant): FakeOptions {
  return typeof change === "function" ? change() : change;
}
