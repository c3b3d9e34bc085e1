import type { Meter } from "@opentelemetry/api";
import { SERVICES } from "../domain/bouquet.ts";
import { ENVIRONMENTS } from "../domain/customer.ts";
import { type CurrencyExponent, type Money, moneyToJson } from "../domain/money.ts";
import type { Observer } from "../operations/observer.ts";

interface Takings {
  readonly labels: Readonly<Record<string, string>>;
  topUps: number;
  amount: Money;
}

/**
 * Counts the top-ups that this process has recorded, and their money: summed up in minor units, exactly, and written
 * in major units. What nobody has bought yet is there as 0, so that the first top-up is seen as a rise.
 */
export function countTopUps(meter: Meter, exponent: () => CurrencyExponent): Observer["topUpRecorded"] {
  const takings = ENVIRONMENTS.flatMap((environment) =>
    SERVICES.map((service): Takings => ({ labels: { service, environment }, topUps: 0, amount: 0n })),
  );
  meter
    .createObservableCounter("topupd_top_ups_total", { description: "Top-ups that were recorded. Replays are none." })
    .addCallback((result) => {
      for (const { topUps, labels } of takings) result.observe(topUps, labels);
    });
  meter
    .createObservableCounter("topupd_top_up_amount_total", {
      description: "The money of the top-ups that were recorded, in major units of the provider's currency.",
    })
    .addCallback((result) => {
      for (const { amount, labels } of takings) result.observe(moneyToJson(amount, exponent()), labels);
    });

  return ({ service, environment, amount }) => {
    const taking = takings.find(({ labels }) => labels["service"] === service && labels["environment"] === environment);
    if (taking === undefined) return;
    taking.topUps += 1;
    taking.amount += amount;
  };
}
