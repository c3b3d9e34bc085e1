import { fromMinorUnits, isExact, shortestAmount } from "./amounts.ts";
import type { Version } from "./read-values.ts";
import { SERVICES, type Service, type TransactionResult } from "./values.ts";

/** A paid bouquet for one connection. */
export interface Purchase {
  readonly cuid: string;
  readonly service: Service;
  readonly reqId: string;
  /** The checkoutId of the listing. Save it before you send the top-up. */
  readonly checkoutId: string;
  /** The `code` of a bouquet in the listing. */
  readonly bouquetId: string;
  /** The bouquet's price: a decimal string, or minor units with the currency's number of decimals. */
  readonly amt: string | MinorUnits;
  /** A text of your own, up to 30 characters; v1.0.1 only. */
  readonly udf1?: string | undefined;
  readonly udf2?: string | undefined;
}

export interface MinorUnits {
  readonly minorUnits: bigint;
  readonly exponent: number;
}

/** A purchase as sent. */
export type WirePurchase = Readonly<Record<(typeof COMPARED)[number] | "checkoutId", string>> & {
  readonly udf1?: string;
  readonly udf2?: string;
};

/** Fields that a purchase and its result must share. */
const COMPARED = ["cuid", "service", "reqId", "bouquetId", "amt"] as const;

const FREE_FIELD_MAX_LENGTH = 30;

/**
 * The purchase in wire format, always the same.
 *
 * @throws TypeError that names the wrong field.
 */
export function toWire(purchase: Purchase, version: Version): WirePurchase {
  if (typeof purchase !== "object" || purchase === null) throw new TypeError("purchase must be an object");
  if (!SERVICES.includes(purchase.service)) throw new TypeError("service must be tv, internet or iptv");
  return {
    cuid: requireText("cuid", purchase.cuid),
    service: purchase.service,
    reqId: requireText("reqId", purchase.reqId),
    checkoutId: requireText("checkoutId", purchase.checkoutId),
    bouquetId: requireText("bouquetId", purchase.bouquetId),
    amt: wireAmount(purchase.amt),
    ...freeField("udf1", purchase.udf1, version),
    ...freeField("udf2", purchase.udf2, version),
  };
}

/** Names of the fields that differ between a purchase and a result. Amounts are compared as decimals. */
export function differences(purchase: WirePurchase, result: TransactionResult): string[] {
  return COMPARED.filter((name) =>
    name === "amt" ? shortestAmount(purchase.amt) !== result.amt : purchase[name] !== result[name],
  );
}

export function requireText(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "") throw new TypeError(`${name} must be a string that is not empty`);
  return value;
}

function wireAmount(amt: Purchase["amt"]): string {
  if (typeof amt === "string") {
    const shortest = shortestAmount(amt);
    if (shortest !== undefined && isExact(shortest)) return amt;
  } else if (typeof amt === "object" && amt !== null) {
    const amount = tryFromMinorUnits(amt);
    if (amount !== undefined && isExact(amount)) return amount;
  }
  throw new TypeError(
    'amt must be a plain decimal as a string, such as "1130", or { minorUnits, exponent }, of at most 15 digits',
  );
}

function tryFromMinorUnits({ minorUnits, exponent }: MinorUnits): string | undefined {
  try {
    return fromMinorUnits(minorUnits, exponent);
  } catch {
    return undefined;
  }
}

function freeField(name: "udf1" | "udf2", value: string | undefined, version: Version): { [name: string]: string } {
  if (value === undefined) return {};
  if (version === "v1.0.0") throw new TypeError(`${name} does not exist in v1.0.0`);
  if (typeof value !== "string" || Array.from(value).length > FREE_FIELD_MAX_LENGTH) {
    throw new TypeError(`${name} must be a string of at most ${FREE_FIELD_MAX_LENGTH} characters`);
  }
  return { [name]: value };
}
