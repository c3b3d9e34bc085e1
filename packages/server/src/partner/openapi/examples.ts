import type { Bouquet } from "../../domain/bouquet.ts";
import { CatalogueRows, readCatalogueRow } from "../../domain/catalogue.ts";
import type { CustomerProfile } from "../../domain/customer.ts";
import type { Reading } from "../../domain/fields.ts";
import { type JsonObject, readJson } from "../../domain/json.ts";
import type { CurrencyExponent } from "../../domain/money.ts";
import { lengthened, newRun, type Subscription } from "../../domain/subscription.ts";
import { type Transaction, transactionOf } from "../../domain/transaction.ts";
import { DAY_MS, type Instant, writeWallTime } from "../../domain/wall-time.ts";
import type { CustomerInformation, Packages, PackagesRequest } from "../customers.ts";
import type { TopUpAnswer } from "../top-ups.ts";

/* The trial catalogue, and answers of the trial environment at one moment. A test makes the same calls and compares. */

/** Rows of service, code, name and price in major units. */
const CATALOGUE = [
  ["tv", "TRIAL-TV-1M", "Trial Family (MONTHLY)", "450"],
  ["tv", "TRIAL-TV-3M", "Trial Family (QUARTERLY)", "1290"],
  ["tv", "TRIAL-TV-12M", "Trial Family (YEARLY)", "4950"],
  ["tv", "TRIAL-KIDS-1M", "Trial Kids [AddOn] (MONTHLY)", "100"],
  ["internet", "TRIAL-NET-1M", "Trial Fiber 100 Mbps (MONTHLY)", "1130"],
  ["internet", "TRIAL-NET-3M", "Trial Fiber 100 Mbps (QUARTERLY)", "3220"],
  ["internet", "TRIAL-NET-12M", "Trial Fiber 100 Mbps (YEARLY)", "11520"],
  ["internet", "TRIAL-IP-1M", "Trial Static IP [AddOn] (MONTHLY)", "500"],
  ["iptv", "TRIAL-ITV-1M", "Trial IPTV (MONTHLY)", "300"],
  ["iptv", "TRIAL-ITV-6M", "Trial IPTV (HALF YEARLY)", "1620"],
] as const;

/** The catalogue of the trial environment. Prices are the same number of major units in every currency. */
export function trialCatalogue(exponent: CurrencyExponent): readonly Bouquet[] {
  const rows = new CatalogueRows();
  for (const [service, code, name, price] of CATALOGUE) {
    rows.add(expectGood(readCatalogueRow(asRow({ service, code, name, price }), exponent)));
  }
  return rows.bouquets;
}

/** A row for the reader of a provider's own files. */
export function asRow(row: object): JsonObject {
  return readJson(JSON.stringify(row)) as JsonObject;
}

export function expectGood<Value>(reading: Reading<Value>): Value {
  if (reading.ok) return reading.value;
  throw new Error(`the trial data is wrong: ${JSON.stringify(reading.problems)}`);
}

/** A request and its answer, which each version renders in its own way. */
export interface Example<Answer> {
  readonly request: object;
  readonly answer: Answer;
}

export interface Examples {
  readonly lookUp: Readonly<Record<string, Example<CustomerInformation>>>;
  readonly listing: Readonly<Record<string, Example<Packages>>>;
  readonly topUp: Readonly<Record<string, Example<TopUpAnswer>>>;
  readonly query: Readonly<Record<string, Example<Transaction>>>;
}

/** The time of the examples, for a provider in UTC. */
export const EXAMPLE_TIME: Instant = Date.UTC(2026, 10, 20, 9);

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" } as const;
const TELEVISION = { cuid: "1000003", service: "tv", reqId: "000100000000003" } as const;
const IPTV = { cuid: "1000004", service: "iptv", reqId: "trial4-iptv" } as const;

const ASHA = person("1000001", "Asha");
const CHECKOUT = "EAGh-CGVwgAAAeyIBoAPrxmSBouxIqwQKGYz3QnbVdhiKp41U5jR4B545JFa1fM8";

export function makeExamples(exponent: CurrencyExponent): Examples {
  const catalogue = trialCatalogue(exponent);
  const sold = (service: string) => catalogue.filter((bouquet) => bouquet.service === service);
  const find = (code: string) => catalogue.find((bouquet) => bouquet.code === code) as Bouquet;
  /** A subscription with one top-up, made days ago. */
  const running = (code: string, daysAgo: number): Subscription => {
    const { plan, name, addOn, period } = find(code);
    const start = writeWallTime(EXAMPLE_TIME - daysAgo * DAY_MS);
    return lengthened(newRun(plan, { code, name, addOn }, start, 1), period);
  };
  const bought = find("TRIAL-NET-3M");
  const requested = {
    ...FIBER,
    environment: "trial",
    partnerId: 1,
    checkoutId: CHECKOUT,
    txnDigits: "",
    bouquetCode: bought.code,
    amount: bought.price,
    udf1: "INV-2041",
  } as const;
  const moment = { instant: EXAMPLE_TIME, wall: writeWallTime(EXAMPLE_TIME) };
  const transaction = { ...transactionOf(requested, moment, 0n), txnId: "01M7W2ZDG0PF6EHMJAC5TBSWNM" };
  return {
    lookUp: {
      "by mobile number": {
        request: { code: "9800000001" },
        answer: {
          customer: ASHA,
          connections: [
            { service: "tv", reqId: "000100000000001", status: "active" },
            { service: "tv", reqId: "000100000000002", status: "inactive" },
            { service: FIBER.service, reqId: FIBER.reqId, status: "active" },
          ],
        },
      },
    },
    listing: {
      "an internet connection": {
        request: FIBER,
        answer: listing(ASHA, FIBER, [running("TRIAL-NET-1M", 10)], sold("internet")),
      },
      "a set-top box": {
        request: TELEVISION,
        answer: listing(
          person("1000003", "Chandra"),
          TELEVISION,
          [running("TRIAL-TV-1M", 10), running("TRIAL-KIDS-1M", 5)],
          sold("tv"),
        ),
      },
      "an IPTV connection": {
        request: IPTV,
        answer: listing(person("1000004", "Deepa"), IPTV, [running("TRIAL-ITV-1M", 10)], sold("iptv")),
      },
    },
    topUp: {
      "three months of internet": {
        request: { ...FIBER, checkoutId: CHECKOUT, bouquetId: bought.code, amt: "3220", udf1: "INV-2041" },
        answer: { transaction, replayed: false },
      },
    },
    query: { "a top-up on record": { request: { checkoutId: CHECKOUT }, answer: transaction } },
  };
}

function person(cuid: string, firstName: string): CustomerProfile {
  return { cuid, firstName, lastName: "Trial", mobile: undefined, status: "active" };
}

function listing(
  customer: CustomerProfile,
  { service, reqId }: PackagesRequest,
  subscriptions: readonly Subscription[],
  bouquets: readonly Bouquet[],
): Packages {
  return { checkoutId: CHECKOUT, customer, connection: { service, reqId, status: "active" }, subscriptions, bouquets };
}
