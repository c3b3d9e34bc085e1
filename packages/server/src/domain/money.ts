/** An amount in minor units (paisa, cents): never a float, so never a rounding (decisions, "Time, money, identifiers"). */
export type Money = bigint;

/** How many decimals the provider's currency has: 2 means that 100 minor units make one major unit. */
export type CurrencyExponent = number;

export const MAX_CURRENCY_EXPONENT = 4;

/** An amount has no more digits than survive the way into a JSON number and back in every partner's language. */
export const MONEY_DIGITS = 15;

/** No amount reaches this many minor units. */
const LIMIT: Money = 10n ** BigInt(MONEY_DIGITS);

const DECIMAL = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

/**
 * Reads a plain decimal such as `1130`, `1130.00` or `0.5`, in major units. Undefined where the text has a sign, an
 * exponent, a blank, more decimals than the currency, or a value of 10^15 minor units and over.
 */
export function parseMoney(text: string, exponent: CurrencyExponent): Money | undefined {
  if (text.length > 20) return undefined;
  const parts = DECIMAL.exec(text);
  if (parts === null) return undefined;
  const [, units = "", decimals = ""] = parts;
  if (decimals.length > exponent) return undefined;
  const minor = BigInt(units + decimals.padEnd(exponent, "0"));
  return minor < LIMIT ? minor : undefined;
}

/** Writes the shortest decimal: `113000n` is `1130`, `284715n` is `2847.15`. */
export function formatMoney(minor: Money, exponent: CurrencyExponent): string {
  const digits = minor.toString().padStart(exponent + 1, "0");
  const units = digits.slice(0, digits.length - exponent);
  const decimals = digits.slice(digits.length - exponent).replace(/0+$/, "");
  return decimals === "" ? units : `${units}.${decimals}`;
}

/** Writes every decimal of the currency, as bookkeepers do: `113000n` is `1130.00`. A sum may be negative. */
export function formatMoneyInFull(minor: Money, exponent: CurrencyExponent): string {
  if (minor < 0n) return `-${formatMoneyInFull(-minor, exponent)}`;
  const digits = minor.toString().padStart(exponent + 1, "0");
  const units = digits.length - exponent;
  return exponent === 0 ? digits : `${digits.slice(0, units)}.${digits.slice(units)}`;
}

/** The JSON number that goes out to partners (interface, section 2). Exact below 10^15 minor units. */
export function moneyToJson(minor: Money, exponent: CurrencyExponent): number {
  return Number(formatMoney(minor, exponent));
}
