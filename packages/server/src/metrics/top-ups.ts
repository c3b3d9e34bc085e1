import { SERVICES } from "../domain/bouquet.ts";
import { ENVIRONMENTS } from "../domain/customer.ts";
import { type CurrencyExponent, formatMoney, type Money } from "../domain/money.ts";
import type { Observer } from "../services/partner/observer.ts";
import { type Family, type Labels, single } from "./exposition.ts";

interface Takings {
  readonly labels: Labels;
  topUps: number;
  amount: Money;
}

export interface TopUpCounts {
  readonly topUpRecorded: Observer["topUpRecorded"];
  readonly recordingChanged: Observer["recordingChanged"];
  readonly collect: (exponent: CurrencyExponent) => Family[];
}

/**
 * Counts the top-ups that this process has recorded, and their money: summed up in minor units, exactly, and written
 * in major units. What nobody has bought yet is there as 0, so that the first top-up is seen as a rise.
 */
export function countTopUps(): TopUpCounts {
  const takings = ENVIRONMENTS.flatMap((environment) =>
    SERVICES.map((service): Takings => ({ labels: { service, environment }, topUps: 0, amount: 0n })),
  );
  let failsSince = 0;
  return {
    topUpRecorded: ({ service, environment, amount }) => {
      const taking = takings.find(
        ({ labels }) => labels["service"] === service && labels["environment"] === environment,
      );
      if (taking === undefined) return;
      taking.topUps += 1;
      taking.amount += amount;
    },
    recordingChanged: (since = 0) => {
      failsSince = since;
    },
    collect: (exponent) => [
      {
        name: "topupd_top_ups_total",
        type: "counter",
        description: "Top-ups that were recorded. Replays are none.",
        samples: takings.map(({ labels, topUps }) => ({ labels, value: topUps })),
      },
      {
        name: "topupd_top_up_amount_total",
        type: "counter",
        description: "The money of the top-ups that were recorded, in major units of the provider's currency.",
        samples: takings.map(({ labels, amount }) => ({ labels, value: formatMoney(amount, exponent) })),
      },
      single(
        "gauge",
        "topupd_recording_fails_since_seconds",
        "When the store first failed to record a top-up, since 1970; 0 where it has recorded one since.",
        failsSince / 1000,
      ),
    ],
  };
}
