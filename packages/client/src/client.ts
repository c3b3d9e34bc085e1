import { type Answer, readAnswer } from "./answers.ts";
import { monotonicMs, sleptBefore } from "./clock.ts";
import { exchange, type Limits, type Line } from "./exchange.ts";
import { isReport, type OperationName, type ReportName } from "./failures.ts";
import { type ClientOptions, readOptions, requireBoolean, requireMs } from "./options.ts";
import type { TopUpOutcome } from "./outcome.ts";
import { type Purchase, requireText, toWire } from "./purchase.ts";
import type { JsonObject } from "./read-json.ts";
import { readAccount, readEntry, readOwnTopUp, readPage, signedAt } from "./read-reports.ts";
import { readCustomer, readListing, readResult } from "./read-values.ts";
import { redactor } from "./redact.ts";
import { carryOut } from "./top-up.ts";
import {
  type Account,
  type AccountEntries,
  type Customer,
  type Days,
  type Listed,
  type OwnTopUp,
  type PackageListing,
  SERVICES,
  type Service,
  type TransactionResult,
} from "./values.ts";
import { putOffMs } from "./verdicts.ts";

/** Time for txn-status to say `never_topped_up`: 5 minutes, one more, and two for a bad network. */
const GIVE_UP_AFTER_MS = 8 * 60_000;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time to wait for one answer. A call that is repeated has this time for both. Default: the client's. */
  readonly timeoutMs?: number | undefined;
}

export interface TopUpOptions extends CallOptions {
  /** Whether this purchase may have been sent before a restart of your program. Default false. */
  readonly resumed?: boolean | undefined;
  /** When to stop asking and return `undecided`. Default 480,000: topupd always gives the outcome in that time. */
  readonly giveUpAfterMs?: number | undefined;
}

export interface ListRequest {
  readonly cuid: string;
  readonly service: Service;
  /** The `reqId` of a connection of the customer. */
  readonly reqId: string;
}

/** The four operations of the interface, and topupd's reports. Failures are returned; only wrong arguments are thrown. */
export interface Client {
  /** Finds a customer by mobile number, customer id, set-top box number or username. */
  lookUpCustomer(code: string, options?: CallOptions): Promise<Answer<Customer>>;
  /** Lists the subscriptions of a connection, the bouquets on offer, and a checkoutId. */
  listPackages(request: ListRequest, options?: CallOptions): Promise<Answer<PackageListing>>;
  /** Finds the top-up that was made with a checkoutId. */
  queryTransaction(checkoutId: string, options?: CallOptions): Promise<Answer<TransactionResult>>;
  /**
   * Tops up, and asks txn-status if the answer is lost. Save the checkoutId first; after a restart, call this with the
   * same purchase and `resumed: true`.
   *
   * @throws TypeError for a purchase that cannot be sent; the signal's reason if it has already aborted.
   */
  topUp(purchase: Purchase, options?: TopUpOptions): Promise<TopUpOutcome>;
  /** Gets your balance, commission rules and limits. The balance can be some seconds old. */
  getAccount(options?: CallOptions): Promise<Answer<Account>>;
  /** Lists the entries of your account of some days, oldest first: all pages, or a failure. */
  listAccountEntries(days: Days, options?: CallOptions): Promise<Answer<AccountEntries>>;
  /** Lists your top-ups of some days, oldest first: all pages, or a failure. */
  listTopUps(days: Days, options?: CallOptions): Promise<Answer<Listed<OwnTopUp>>>;
  /** Finds your top-ups of any day with this udf1, oldest first: all pages, or a failure. */
  findTopUps(udf1: string, options?: CallOptions): Promise<Answer<Listed<OwnTopUp>>>;
}

/** @throws TypeError that names the missing or wrong option. */
export function createClient(options: ClientOptions): Client {
  const { base, version, token, repeatsAreSafe, ...settings } = readOptions(options);
  const redact = redactor(token);
  const url = (operation: OperationName) => `${base}/${operation}`;
  const line: Line = { url, token, fetch: settings.fetch, clock: settings.clock, redact };

  const limitsOf = ({ signal, timeoutMs }: CallOptions = {}): Limits => {
    return { signal, timeoutMs: timeoutMs === undefined ? settings.timeoutMs : requireMs("timeoutMs", timeoutMs) };
  };
  const call = async <Value>(
    operation: OperationName,
    request: object,
    limits: Limits,
    read: (body: JsonObject) => Value,
  ): Promise<Answer<Value>> => {
    const answer = await exchange(line, operation, request, limits);
    if (answer.kind === "no_answer") return { ok: false, failure: answer };
    return readAnswer(answer, { operation, read, redact, now: settings.clock.now() });
  };
  /** Sends what changes nothing, and once more if a busy deployment asks for that. */
  const ask: typeof call = async (operation, request, limits, read) => {
    const { clock } = settings;
    const endsAt = monotonicMs(clock) + limits.timeoutMs;
    const first = await call(operation, request, limits, read);
    const waitMs = first.ok ? undefined : putOffMs(first.failure, isReport(operation));
    if (waitMs === undefined || !(await sleptBefore(endsAt, clock, waitMs, limits.signal))) return first;
    return call(operation, request, { ...limits, timeoutMs: endsAt - monotonicMs(clock) }, read);
  };
  const query = (checkoutId: string, limits: Limits) =>
    call("txn-status", { checkoutId }, limits, (body) => readResult(body, checkoutId));

  /** Gets all pages of a list, with what its first page says of the whole. */
  const list = async <Item, Whole>(
    name: ReportName,
    asked: Days | { readonly udf1: string },
    options: CallOptions | undefined,
    readItem: (item: JsonObject) => Item,
    readWhole: (body: JsonObject) => Whole,
  ): Promise<Answer<Whole & Listed<Item>>> => {
    const query = Object.fromEntries(Object.entries(asked).map(([key, value]) => [key, requireText(key, value)]));
    const limits = limitsOf(options);
    const items: Item[] = [];
    let whole: Whole | undefined;
    for (let cursor: string | undefined; ; ) {
      const answer = await ask(name, cursor === undefined ? query : { cursor }, limits, (body) => ({
        ...readPage(body, query, cursor, readItem),
        whole: readWhole(body),
      }));
      if (!answer.ok) return answer;
      const { next, ...page } = answer.value;
      items.push(...page.items);
      whole ??= page.whole;
      if (next === null) return { ...answer, value: { ...whole, items } };
      cursor = next;
    }
  };

  return Object.freeze<Client>({
    async lookUpCustomer(code, options) {
      const request = { code: requireText("code", code) };
      return ask("get-customer-information", request, limitsOf(options), (body) => readCustomer(body, version));
    },
    async listPackages({ cuid, service, reqId }, options) {
      if (!SERVICES.includes(service)) throw new TypeError("service must be tv, internet or iptv");
      const request = { cuid: requireText("cuid", cuid), service, reqId: requireText("reqId", reqId) };
      const read = (body: JsonObject) => readListing(body, version, request);
      return ask("get-subscription-package", request, limitsOf(options), read);
    },
    async queryTransaction(checkoutId, options) {
      return query(requireText("checkoutId", checkoutId), limitsOf(options));
    },
    async topUp(purchase, options = {}) {
      const { resumed = false, giveUpAfterMs = GIVE_UP_AFTER_MS } = options;
      return carryOut(
        {
          send: (wire, limits) =>
            call("subscription-package-topup", wire, limits, (body) => readResult(body, wire.checkoutId)),
          query,
          clock: settings.clock,
          random: settings.random,
        },
        toWire(purchase, version),
        {
          ...limitsOf(options),
          resumed: requireBoolean("resumed", resumed),
          giveUpAfterMs: requireMs("giveUpAfterMs", giveUpAfterMs),
          repeatsAreSafe,
        },
      );
    },
    async getAccount(options) {
      return ask("partner/account", {}, limitsOf(options), readAccount);
    },
    async listAccountEntries({ from, to }, options) {
      const readWhole = (body: JsonObject) => ({ opening: signedAt(body, "opening") });
      return list("partner/account/entries", { from, to }, options, readEntry, readWhole);
    },
    async listTopUps({ from, to }, options) {
      return list("partner/top-ups", { from, to }, options, readOwnTopUp, () => ({}));
    },
    async findTopUps(udf1, options) {
      return list("partner/top-ups", { udf1 }, options, readOwnTopUp, () => ({}));
    },
  });
}
