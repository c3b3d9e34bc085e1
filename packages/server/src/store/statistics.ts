import type { Service } from "../domain/bouquet.ts";
import type { Environment } from "../domain/customer.ts";
import type { Money } from "../domain/money.ts";
import type { Instant } from "../domain/wall-time.ts";

/**
 * What charts are made of. It only reads, and in small steps, as a search does. Every method rejects as those of the store
 * do.
 */
export interface StatisticsSource {
  /** What the top-ups that were recorded from one time to before another come to, whatever became of them since. */
  sumHours(from: Instant, until: Instant | undefined): Promise<HourSum[]>;
  /** What the reversals come to that were made on a day or later. @param from such as `2026-11-20`. */
  sumReversedDays(from: string): Promise<ReversedDay[]>;
}

/** The top-ups of one bouquet by one partner in an hour of the provider's clock. */
export interface HourSum {
  readonly environment: Environment;
  /** Such as `2026-11-20 14`. An hour may be in several parts. */
  readonly hour: string;
  readonly partnerId: number;
  readonly service: Service;
  readonly bouquetCode: string;
  readonly count: number;
  readonly amount: Money;
}

/** What was taken back of one partner's top-ups on a day, of whatever day they were. */
export interface ReversedDay {
  readonly environment: Environment;
  readonly day: string;
  readonly partnerId: number;
  readonly count: number;
  readonly amount: Money;
}
