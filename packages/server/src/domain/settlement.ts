import type { Service } from "./bouquet.ts";
import type { Money } from "./money.ts";

/** What top-ups, or reversals, of one bouquet by one partner come to. */
export interface SettlementSum {
  readonly partnerId: number;
  readonly service: Service;
  readonly bouquetCode: string;
  readonly count: number;
  readonly amount: Money;
}

/**
 * The top-ups that were recorded on a day and the reversals that were made on it, of whatever day's top-ups: a day that is
 * over never changes, but where its history is let go (decisions, "Settlement").
 */
export interface SettlementLine extends SettlementTotal {
  readonly day: string;
  readonly partnerId: number;
  /** Undefined where the services of a day are put together. */
  readonly service: Service | undefined;
  /** Undefined where the bouquets of a service are put together. */
  readonly bouquetCode: string | undefined;
}

export interface SettlementTotal {
  readonly topUps: number;
  readonly gross: Money;
  readonly reversals: number;
  readonly reversed: Money;
}

/** How fine the lines are: of each bouquet, or only of each service, or only of each day. */
export const SETTLEMENT_DETAILS = ["bouquet", "service", "day"] as const;
export type SettlementDetail = (typeof SETTLEMENT_DETAILS)[number];

export const NOTHING_SETTLED: SettlementTotal = { topUps: 0, gross: 0n, reversals: 0, reversed: 0n };

/** What the partner owes: it may be negative on a day on which more was taken back than topped up. */
export function netOf({ gross, reversed }: SettlementTotal): Money {
  return gross - reversed;
}

export function addTotals(a: SettlementTotal, b: SettlementTotal): SettlementTotal {
  return {
    topUps: a.topUps + b.topUps,
    gross: a.gross + b.gross,
    reversals: a.reversals + b.reversals,
    reversed: a.reversed + b.reversed,
  };
}

/** The lines of a day, ordered by partner, service and bouquet. */
export function settleDay(
  day: string,
  topUps: readonly SettlementSum[],
  reversals: readonly SettlementSum[],
  detail: SettlementDetail,
): SettlementLine[] {
  const lines = new Map<string, SettlementLine>();
  const add = ({ partnerId, service, bouquetCode }: SettlementSum, amounts: Partial<SettlementTotal>) => {
    const label = {
      ...{ day, partnerId },
      service: detail === "day" ? undefined : service,
      bouquetCode: detail === "bouquet" ? bouquetCode : undefined,
    };
    const key = JSON.stringify(label);
    const added = addTotals(lines.get(key) ?? NOTHING_SETTLED, { ...NOTHING_SETTLED, ...amounts });
    lines.set(key, { ...label, ...added });
  };
  for (const sum of topUps) add(sum, { topUps: sum.count, gross: sum.amount });
  for (const sum of reversals) add(sum, { reversals: sum.count, reversed: sum.amount });
  return [...lines.values()].sort(compareLines);
}

function compareLines(a: SettlementLine, b: SettlementLine): number {
  if (a.partnerId !== b.partnerId) return a.partnerId - b.partnerId;
  // By their characters, so that every machine has the same order.
  const [key, other] = [a, b].map(({ service = "", bouquetCode = "" }) => `${service} ${bouquetCode}`) as [
    string,
    string,
  ];
  return key < other ? -1 : 1;
}
