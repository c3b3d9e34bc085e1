/*
 * Amounts are decimal strings such as "1130" or "2847.15", never floats. Calculate in minor units (paisa, cents) as
 * bigint, and convert back with fromMinorUnits.
 */

const PLAIN_DECIMAL = /^([0-9]+)(?:\.([0-9]+))?$/;

/** Digits that a JSON number carries exactly, in every language. */
const MAX_DIGITS = 15;
/** Digits that some programs write of a double. */
const DOUBLE_DIGITS = 17;
const MAX_EXPONENT = 9;

/**
 * Minor units of an amount: `toMinorUnits("2847.15", 2)` is `284715n`.
 *
 * @param exponent number of decimals of the currency: 2 if 100 minor units make one major unit.
 * @throws RangeError if the amount is no plain decimal, or has more decimals than the currency.
 */
export function toMinorUnits(amount: string, exponent: number): bigint {
  requireExponent(exponent);
  if (typeof amount !== "string") throw new TypeError("an amount must be a string: a number may have drifted");
  const shortest = shortestAmount(amount);
  if (shortest === undefined) throw new RangeError("an amount must be a plain decimal, such as 1130 or 2847.15");
  const [units = "", decimals = ""] = shortest.split(".");
  if (decimals.length > exponent) throw new RangeError(`the amount must have at most ${exponent} decimals`);
  return BigInt(units + decimals.padEnd(exponent, "0"));
}

/**
 * The shortest decimal: `fromMinorUnits(113000n, 2)` is `"1130"`.
 *
 * @throws RangeError if the amount is negative or the exponent is not a whole number from 0 to 9.
 */
export function fromMinorUnits(minorUnits: bigint, exponent: number): string {
  requireExponent(exponent);
  if (typeof minorUnits !== "bigint") throw new TypeError("minor units must be a bigint");
  if (minorUnits < 0n) throw new RangeError("an amount must not be negative");
  const digits = minorUnits.toString().padStart(exponent + 1, "0");
  const point = digits.length - exponent;
  return trimmed(digits.slice(0, point), digits.slice(point));
}

/** The shortest form of a plain decimal, so that equal amounts are equal strings; undefined if it is none. */
export function shortestAmount(text: string): string | undefined {
  if (text.length > 40) return undefined;
  const [, units, decimals = ""] = PLAIN_DECIMAL.exec(text) ?? [];
  return units === undefined ? undefined : trimmed(units.replace(/^0+(?=[0-9])/, ""), decimals);
}

/**
 * Reads an amount of an answer: a JSON number, or a string if a deployment sends one.
 *
 * @returns undefined if it is not exact: more than 15 digits, an exponent, a sign.
 */
export function readAmount(value: unknown): string | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const text = String(value);
  // Some programs write a double with more digits than it has: 2847.1500000000001 is 2847.15.
  const amount = shortestAmount(
    digitsOf(text) > MAX_DIGITS && digitsOf(text) <= DOUBLE_DIGITS ? `${Number(text)}` : text,
  );
  return amount === undefined || digitsOf(amount) > MAX_DIGITS ? undefined : amount;
}

/** Reads an amount that can be negative, such as a balance. */
export function readSignedAmount(value: unknown): string | undefined {
  if (!String(value).startsWith("-")) return readAmount(value);
  const amount = readAmount(String(value).slice(1));
  return amount === undefined ? undefined : `-${amount}`;
}

/** Whether a JSON number carries the amount exactly, in every language. */
export function isExact(amount: string): boolean {
  return digitsOf(amount) <= MAX_DIGITS;
}

function digitsOf(text: string): number {
  return text.replace(".", "").length;
}

function trimmed(units: string, decimals: string): string {
  const kept = decimals.replace(/0+$/, "");
  return kept === "" ? units : `${units}.${kept}`;
}

function requireExponent(exponent: number): void {
  if (!Number.isInteger(exponent) || exponent < 0 || exponent > MAX_EXPONENT) {
    throw new RangeError(`an exponent must be a whole number from 0 to ${MAX_EXPONENT}`);
  }
}
