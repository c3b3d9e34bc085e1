import type { Bouquet } from "../../domain/bouquet.ts";
import type { CustomerProfile } from "../../domain/customer.ts";
import type { CurrencyExponent } from "../../domain/money.ts";
import { lengthened, newRun, type Subscription } from "../../domain/subscription.ts";
import type { Transaction } from "../../domain/top-up.ts";
import { DAY_MS, type Instant, writeWallTime } from "../../domain/wall-time.ts";
import type { CustomerInformation, Packages, PackagesRequest } from "../customers.ts";
import type { TopUpAnswer } from "../top-ups.ts";
import { trialCatalogue } from "./trial-catalogue.ts";

/*
 * What the trial environment answers, at one moment of its life. A test makes the same calls and compares.
 */

/** A request as it goes out, and the operation's answer to it, which each version renders its own way. */
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

/** When the examples happen, for a provider whose clocks show UTC. */
export const EXAMPLE_TIME: Instant = Date.UTC(2026, 10, 20, 9);

const FIBER = { cuid: "1000001", service: "internet", reqId: "trial1" } as const;
const TELEVISION = { cuid: "1000003", service: "tv", reqId: "000100000000003" } as const;
const IPTV = { cuid: "1000004", service: "iptv", reqId: "trial4-iptv" } as const;

const ASHA = person("1000001", "Asha");
const CHECKOUT = "EAGh-CGVwgAAAeyIBoAPrxmSBouxIqwQKGYz3QnbVdhiKp41U5jR4B545JFa1fM8";

/** @param exponent of the provider's currency: the trial prices are the same number of major units in each. */
export function makeExamples(exponent: CurrencyExponent): Examples {
  const catalogue = trialCatalogue(exponent);
  const sold = (service: string) => catalogue.filter((bouquet) => bouquet.service === service);
  const find = (code: string) => catalogue.find((bouquet) => bouquet.code === code) as Bouquet;
  /** A subscription of one purchase, so many days old. */
  const running = (code: string, daysAgo: number): Subscription => {
    const { plan, name, addOn, period } = find(code);
    const start = writeWallTime(EXAMPLE_TIME - daysAgo * DAY_MS);
    return lengthened(newRun(plan, { code, name, addOn }, start, 1), period);
  };
  const bought = find("TRIAL-NET-3M");
  const transaction: Transaction = {
    ...FIBER,
    environment: "trial",
    checkoutId: CHECKOUT,
    txnId: "01M7W2ZDG0PF6EHMJAC5TBSWNM",
    partnerId: 1,
    bouquetCode: bought.code,
    amount: bought.price,
    at: EXAMPLE_TIME,
    txnDate: writeWallTime(EXAMPLE_TIME),
    status: "success",
    udf1: "INV-2041",
    udf2: undefined,
  };
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
