import { AddressList, MOST_ADDRESS_RANGES, readAddressRange } from "../domain/address-list.ts";
import { SERVICES } from "../domain/bouquet.ts";
import { type BasePlans, DEFAULT_BASE_PLANS } from "../domain/catalogue.ts";
import { type Instant, readWallTime } from "../domain/wall-time.ts";

/* Readers of settings' values. Each throws an Error that says what the value must be. */

/** @param others words for other values that are allowed. */
export function integer(min: number, max: number, others = ""): (text: string) => number {
  return (text) => {
    const value = /^[0-9]{1,5}$/.test(text) ? Number(text) : -1;
    return value >= min && value <= max ? value : mustBe(`${others}a whole number from ${min} to ${max}`);
  };
}

/** @returns one line of text without control characters. */
export function readTextLine(text: string): string {
  const line = text.trim();
  return /^\P{Cc}{1,200}$/u.test(line) ? line : mustBe("one line of 1 to 200 characters");
}

/** @returns units of the currency, whose decimals are not known yet; undefined for `none`. */
export function readUnitsOrNone(text: string): bigint | undefined {
  if (text === "none") return undefined;
  return /^[0-9]{1,11}$/.test(text) ? BigInt(text) : mustBe("none, or a whole number of up to 11 digits");
}

export function readHost(text: string): string {
  return text === "" ? mustBe("an address") : text;
}

/** @returns names in lower case. */
export function readHostNames(text: string): ReadonlySet<string> {
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  if (names.every((name) => /^[a-z0-9.-]+$/.test(name))) return new Set(names);
  return mustBe("a list of host names such as console.provider.example, without ports");
}

export function readPrefix(text: string): string {
  if (/^(\/[A-Za-z0-9._-]+)*$/.test(text)) return text;
  return mustBe("a path such as /api/third-party, without a slash at its end");
}

/** @returns scheme, host and port. */
export function readOrigin(text: string): string {
  if (/^https?:/.test(text) && URL.canParse(text)) {
    const { origin } = new URL(text);
    if (text === origin || text === `${origin}/`) return origin;
  }
  return mustBe("a URL without a path, such as https://topup.provider.example");
}

export function readAddressList(text: string): AddressList {
  const ranges = text.split(",").map((part) => {
    const range = readAddressRange(part.trim());
    if (typeof range === "string") return range;
    throw new Error(`names ${JSON.stringify(part.trim())}, which ${range.problem}`);
  });
  return ranges.length <= MOST_ADDRESS_RANGES
    ? new AddressList(ranges)
    : mustBe(`a list of up to ${MOST_ADDRESS_RANGES} addresses and ranges`);
}

/** Services that are not named keep their default. */
export function readBasePlans(text: string): BasePlans {
  const plans = { ...DEFAULT_BASE_PLANS };
  for (const part of text.split(",")) {
    const [name, number] = part.split("=").map((word) => word.trim());
    const service = SERVICES.find((known) => known === name);
    if (service === undefined || (number !== "one" && number !== "many"))
      return mustBe("a list such as internet=one,iptv=many,tv=many");
    plans[service] = number;
  }
  return plans;
}

export function readDate(text: string): Instant {
  return readWallTime(`${text} 00:00:00`) ?? mustBe("a date in the form YYYY-MM-DD");
}

export function mustBe(what: string): never {
  throw new Error(`must be ${what}`);
}
