import { SERVICES } from "../domain/bouquet.ts";
import { ENVIRONMENTS } from "../domain/customer.ts";
import { type CurrencyExponent, formatMoney } from "../domain/money.ts";
import type { Problem } from "../domain/problem.ts";
import type { FailedLogIn } from "../office/session/log-in.ts";
import type { Observer, ServedOperation } from "../partner/ports.ts";
import type { ObserveBatch } from "../store/store.ts";
import { DELIVERY_OUTCOMES, type DeliveryObserver, type TargetFigures } from "../workers/delivery-observer.ts";
import { type Family, Histogram, type Labels, single } from "./exposition.ts";

/** Seconds, from a look-up in memory to the longest wait of a proxy. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Outcomes that are not the caller's fault. */
const OURS = ["unavailable", "internal_error", "gave_up"];

const NO_OPERATION: ServedOperation = { name: "", version: "" };

interface Collected {
  readonly collect: () => Family[];
}

export function countRequests(): Pick<Observer, "requestAnswered"> & Collected {
  const counts = new Map<string, { readonly labels: Labels; value: number }>();
  const durations = new Histogram({
    name: "topupd_request_duration_seconds",
    description: "Time from the arrival of an accepted request until its answer was written or its caller left.",
    bounds: DURATION_BUCKETS,
    label: "operation",
  });
  return {
    requestAnswered: ({ name, version } = NO_OPERATION, caller, outcome, seconds) => {
      const key = `${name} ${version} ${caller?.partnerId} ${caller?.environment} ${outcome}`;
      const { partnerName: partner = "", environment = "" } = caller ?? {};
      const count = counts.get(key) ?? {
        labels: { operation: name, version, partner, environment, outcome },
        value: 0,
      };
      if (count.value === 0) counts.set(key, count);
      count.value += 1;
      // Quickly refused requests are not measured: many of them would hide slow ones.
      if (name !== "" && (caller !== undefined || OURS.includes(outcome))) durations.record(seconds, name);
    },
    collect: () => [
      {
        name: "topupd_requests_total",
        type: "counter",
        description: "Requests to operations, and requests refused because they were to none, by outcome.",
        samples: [...counts.values()],
      },
      durations.collect(),
    ],
  };
}

interface TopUpCounts extends Pick<Observer, "topUpRecorded"> {
  readonly collect: (exponent: CurrencyExponent) => Family[];
}

/**
 * Counts recorded top-ups and their amounts, exactly: summed in minor units, written in major units. Every series
 * starts at 0, so that Prometheus sees the first top-up as an increase.
 */
export function countTopUps(): TopUpCounts {
  const takings = ENVIRONMENTS.flatMap((environment) =>
    SERVICES.map((service) => ({ labels: { service, environment }, topUps: 0, amount: 0n })),
  );
  return {
    topUpRecorded: ({ service, environment, amount }) => {
      const taking = takings.find(({ labels }) => labels.service === service && labels.environment === environment);
      if (taking === undefined) return;
      taking.topUps += 1;
      taking.amount += amount;
    },
    collect: (exponent) => [
      {
        name: "topupd_top_ups_total",
        type: "counter",
        description: "Recorded top-ups, without replays.",
        samples: takings.map(({ labels, topUps }) => ({ labels, value: topUps })),
      },
      {
        name: "topupd_top_up_amount_total",
        type: "counter",
        description: "Amount of the recorded top-ups, in major units of the provider's currency.",
        samples: takings.map(({ labels, amount }) => ({ labels, value: formatMoney(amount, exponent) })),
      },
    ],
  };
}

/** Sizes up to the largest batch. */
const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Seconds, from a quick disk to the deadline of recording. */
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** @param elapsed seconds on a monotonic clock. */
export function countBatches(elapsed: () => number): { readonly observeBatch: ObserveBatch } & Collected {
  const sizes = new Histogram({
    name: "topupd_batch_size",
    description: "Number of requests in a committed transaction: top-ups, repeats and refusals.",
    bounds: SIZE_BUCKETS,
  });
  const commits = new Histogram({
    name: "topupd_commit_duration_seconds",
    description: "Time from the start of a batch's transaction until it was durable or failed, including waits.",
    bounds: COMMIT_BUCKETS,
  });
  let failed = 0;
  return {
    observeBatch: (items) => {
      const began = elapsed();
      return (committed) => {
        // Failed batches count too: they often waited longest.
        commits.record(elapsed() - began);
        if (committed) sizes.record(items);
        else failed += 1;
      };
    },
    collect: () => [
      sizes.collect(),
      commits.collect(),
      single("counter", "topupd_failed_batches_total", "Batches that ended without a known commit.", failed),
    ],
  };
}

/**
 * Counts deliveries of this process, and the state of targets whose lease it holds. One process holds a target's lease.
 */
export function countDeliveries(): Omit<DeliveryObserver, "stepEnded"> & Collected {
  const attempts = new Map<string, Record<(typeof DELIVERY_OUTCOMES)[number], number>>();
  const observed = new Map<string, TargetFigures>();
  const attemptsOf = (target: string) => {
    const counted = attempts.get(target) ?? { delivered: 0, failed: 0 };
    attempts.set(target, counted);
    return counted;
  };
  const gauge = (name: string, description: string, measure: (figures: TargetFigures) => number): Family => ({
    name,
    type: "gauge",
    description,
    samples: [...observed].map(([target, figures]) => ({ labels: { target }, value: measure(figures) })),
  });
  return {
    deliveryEnded: (target, outcome) => {
      attemptsOf(target)[outcome] += 1;
    },
    targetObserved: (target, figures) => {
      if (figures === undefined) observed.delete(target);
      else observed.set(target, figures);
      // The counter starts at 0, so that Prometheus sees the first attempt as an increase.
      attemptsOf(target);
    },
    collect: () => [
      {
        name: "topupd_deliveries_total",
        type: "counter",
        description: "Attempts to deliver an event to a target, by outcome.",
        samples: [...attempts].flatMap(([target, counted]) =>
          DELIVERY_OUTCOMES.map((outcome) => ({ labels: { target, outcome }, value: counted[outcome] })),
        ),
      },
      gauge(
        "topupd_delivery_lag_seconds",
        "Age of the oldest undelivered event that is still retried; 0 if none.",
        ({ lagMs }) => lagMs / 1000,
      ),
      gauge(
        "topupd_deliveries_waiting",
        "Failed events that are retried, and events that wait behind them.",
        ({ waiting }) => waiting,
      ),
      gauge(
        "topupd_deliveries_set_aside",
        "Events that failed for three days and are no longer retried.",
        ({ setAside }) => setAside,
      ),
    ],
  };
}

/** Seconds, from a webhook on the same machine to what was repaired in the morning. */
const SERVICE_BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 43_200];

/** Measures how soon changes reach their targets. */
export function measureSteps(): Pick<DeliveryObserver, "stepEnded"> & Collected {
  const durations = new Histogram({
    name: "topupd_service_duration_seconds",
    description:
      "Time from a change until its target has applied it: accepted, or confirmed if promised, or sessions ended.",
    bounds: SERVICE_BUCKETS,
    label: "target",
  });
  return {
    stepEnded: (target, ms) => durations.record(Math.max(0, ms) / 1000, target),
    collect: () => [durations.collect()],
  };
}

/** Shows the problems of the last round, in the process that looks for them. */
export function showProblems(): Collected & { readonly observe: (problems: readonly Problem[]) => void } {
  let shown = new Map<string, Labels>();
  return {
    observe: (problems) => {
      const labels = problems.map(({ kind, environment = "", subject = "", limit = "" }): Labels => {
        return { kind, environment, subject, limit };
      });
      shown = new Map(labels.map((each) => [JSON.stringify(each), each]));
    },
    collect: () => [
      {
        name: "topupd_problem",
        type: "gauge",
        description: "1 for each problem that needs attention, as in the console and in mails.",
        samples: [...shown.values()].map((labels) => ({ labels, value: 1 })),
      },
    ],
  };
}

export interface LogInCounts extends Collected {
  readonly countFailedLogIn: (outcome: FailedLogIn["outcome"]) => void;
}

/** Counts failed log-ins to the console. Both outcomes start at 0, so that Prometheus sees the first as an increase. */
export function countLogIns(): LogInCounts {
  const counts: Record<FailedLogIn["outcome"], number> = { wrong_credentials: 0, too_many_attempts: 0 };
  return {
    countFailedLogIn: (outcome) => {
      counts[outcome] += 1;
    },
    collect: () => [
      {
        name: "topupd_failed_log_ins_total",
        type: "counter",
        description: "Failed log-ins to the console, by reason.",
        samples: Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
    ],
  };
}
