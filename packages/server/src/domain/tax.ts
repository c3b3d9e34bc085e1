import type { AuditedChange } from "./audit.ts";
import type { Service } from "./bouquet.ts";
import { formatMoney, type Money, parseMoney } from "./money.ts";

/*
 * Taxes contained in prices. Top-ups store none: base and taxes follow from service, day and price, because a tax begins
 * after the service's last top-up.
 */

export interface Tax {
  readonly service: Service;
  readonly name: string;
  /** Millionths of the base: 143000 is 14.3 %. 0 ends the tax. */
  readonly share: number;
  /** First day, such as `2026-07-17`. The tax holds until the next one of its service and name. */
  readonly from: string;
}

type Share = Pick<Tax, "name" | "share">;

export interface TaxAmount {
  readonly name: string;
  readonly amount: Money;
}

/** The parts of a price, or of a sum of prices. */
export interface TaxSplit {
  readonly base: Money;
  /** Ordered by name. */
  readonly taxes: readonly TaxAmount[];
}

const SHARE_DECIMALS = 4;
const WHOLE = 1_000_000n;

/** Reads a percentage of up to 100 with up to 4 decimals. Undefined if it is none. */
export function readShare(percent: string): number | undefined {
  const share = parseMoney(percent, SHARE_DECIMALS);
  return share === undefined || share > WHOLE ? undefined : Number(share);
}

/** Writes the shortest percentage: `14.3`. */
export function formatShare(share: number): string {
  return formatMoney(BigInt(share), SHARE_DECIMALS);
}

/** The taxes of a service on a day, ordered by name. */
export function taxesOn(service: Service, day: string, taxes: readonly Tax[]): readonly Share[] {
  const last = new Map<string, Tax>();
  for (const tax of taxes) {
    if (tax.service !== service || tax.from > day) continue;
    const other = last.get(tax.name);
    if (other === undefined || other.from < tax.from) last.set(tax.name, tax);
  }
  return [...last.values()].filter(({ share }) => share > 0).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Splits a price into base and taxes, whose sum is the price (docs/decisions.md, "Settlement"). A tax is at most the rest, so
 * that none is negative.
 */
export function splitPrice(price: Money, shares: readonly Share[]): TaxSplit {
  const whole = shares.reduce((sum, { share }) => sum + BigInt(share), WHOLE);
  const partOf = (share: bigint) => (2n * price * share + whole) / (2n * whole);
  const base = partOf(WHOLE);
  let rest = price - base;
  const taxes = shares.map(({ name, share }, index) => {
    const part = partOf(BigInt(share));
    const amount = index === shares.length - 1 || part > rest ? rest : part;
    rest -= amount;
    return { name, amount };
  });
  return { base, taxes };
}

/** A price on a day such as `2026-07-17`. */
export interface Sale {
  readonly service: Service;
  readonly day: string;
  readonly amount: Money;
}

export function splitOf({ service, day, amount }: Sale, taxes: readonly Tax[]): TaxSplit {
  return splitPrice(amount, taxesOn(service, day, taxes));
}

export const NO_SPLIT: TaxSplit = { base: 0n, taxes: [] };

/** Adds `b`, so many times. */
export function addSplits(a: TaxSplit, b: TaxSplit, times = 1): TaxSplit {
  const amounts = new Map(a.taxes.map(({ name, amount }) => [name, amount]));
  for (const { name, amount } of b.taxes) amounts.set(name, (amounts.get(name) ?? 0n) + BigInt(times) * amount);
  const taxes = Array.from(amounts, ([name, amount]) => ({ name, amount }));
  return { base: a.base + BigInt(times) * b.base, taxes: taxes.sort((x, y) => (x.name < y.name ? -1 : 1)) };
}

/** Formatted taxes in one cell or line: `TSC 12.30; VAT 15.99`. */
export function taxesText(taxes: readonly { readonly name: string; readonly amount: string }[]): string {
  return taxes.map(({ name, amount }) => `${name} ${amount}`).join("; ");
}

/** @param before the share until then; undefined if there is none. */
export function taxAdded(tax: Tax, before: number | undefined): AuditedChange {
  const after = { share: formatShare(tax.share), from: tax.from };
  const former = before === undefined ? undefined : { share: formatShare(before) };
  return { action: "tax.add", subject: nameOf(tax), before: former, after };
}

export function taxRemoved(tax: Tax): AuditedChange {
  const before = { share: formatShare(tax.share), from: tax.from };
  return { action: "tax.remove", subject: nameOf(tax), before, after: undefined };
}

function nameOf({ service, name }: Tax): string {
  return `${service} ${name}`;
}
