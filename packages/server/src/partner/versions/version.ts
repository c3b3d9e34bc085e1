import type { TSchema } from "typebox";
import type { CurrencyExponent } from "../../domain/money.ts";
import type { Transaction } from "../../domain/transaction.ts";
import type { Instant } from "../../domain/wall-time.ts";
import type { CustomerInformation, Packages } from "../customers.ts";
import type { RequestForm } from "../requests.ts";
import type { TopUpRequest } from "../top-ups.ts";

/** The answer of one operation in one version. */
export interface Rendering<Answer> {
  readonly schema: TSchema;
  readonly render: (answer: Answer, exponent: CurrencyExponent) => object;
  /** Writes the whole envelope faster than JSON.stringify, with the same result. */
  readonly write?: (code: string, answer: Answer, exponent: CurrencyExponent) => string;
}

/** One published version of the interface. */
export interface Version {
  readonly name: string;
  /** The version to move to; undefined for the current one. */
  readonly successor: string | undefined;
  /** The only request that differs between versions. */
  readonly topUp: RequestForm<TopUpRequest>;
  readonly customerInformation: Rendering<CustomerInformation>;
  readonly packages: Rendering<Packages>;
  readonly transaction: Rendering<Transaction>;
}

/** The end of a version, if the provider sets one (docs/decisions.md, Versions). */
export interface Retirement {
  readonly deprecatedAt: Instant | undefined;
  readonly sunsetAt: Instant | undefined;
}

export const NOT_RETIRED: Retirement = { deprecatedAt: undefined, sunsetAt: undefined };

/** The headers that announce the end: RFC 9745, RFC 8594 and the link relation of RFC 5829. */
export function retirementHeaders({ deprecatedAt, sunsetAt }: Retirement, successor: string): string[] {
  if (deprecatedAt === undefined && sunsetAt === undefined) return [];
  return [
    ...(deprecatedAt === undefined ? [] : ["deprecation", `@${Math.floor(deprecatedAt / 1000)}`]),
    ...(sunsetAt === undefined ? [] : ["sunset", new Date(sunsetAt).toUTCString()]),
    "link",
    `<${successor}>; rel="successor-version"`,
  ];
}
