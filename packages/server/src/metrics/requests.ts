import type { Observer, ServedOperation } from "../services/partner/observer.ts";
import type { Caller } from "../services/ports.ts";
import type { Family, Labels } from "./exposition.ts";
import { createHistogram, type Series } from "./histogram.ts";

/** In seconds: from a look-up in memory to the longest that a proxy waits. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Outcomes that are no fault of a request, admitted or not. */
const OURS = ["unavailable", "internal_error", "gave_up"];

const NO_OPERATION: ServedOperation = { name: "", version: "" };

interface Count {
  value: number;
  readonly labels: Labels;
}

/** The requests of one operation by one partner in one environment. */
interface CallerCounts {
  readonly labels: Labels;
  readonly byOutcome: Map<string, Count>;
}

interface OperationCounts {
  /** Undefined where there is no operation whose time could be told. */
  readonly durations: Series | undefined;
  readonly byPartner: Readonly<Record<Caller["environment"], Map<number, CallerCounts>>>;
  readonly byNobody: CallerCounts;
}

export interface RequestCounts {
  readonly requestAnswered: Observer["requestAnswered"];
  readonly collect: () => Family[];
}

/** Counts requests. A request finds its count by what it is, and not by its labels: these are put together once. */
export function countRequests(): RequestCounts {
  const operations = new Map<ServedOperation, OperationCounts>();
  const counts: Count[] = [];
  const durations = createHistogram({
    name: "topupd_request_duration_seconds",
    description:
      "Time from the arrival of an admitted request to an operation until its answer was written, or its caller left.",
    bounds: DURATION_BUCKETS,
  });
  const series = new Map<string, Series>();
  // The versions of an operation share theirs.
  const durationsOf = (name: string): Series => {
    const ofName = series.get(name) ?? durations.series({ operation: name });
    series.set(name, ofName);
    return ofName;
  };
  const addOperation = (operation: ServedOperation): OperationCounts => {
    const { name, version } = operation;
    const labels = { operation: name, version, partner: "", environment: "" };
    const added: OperationCounts = {
      durations: operation === NO_OPERATION ? undefined : durationsOf(name),
      byPartner: { trial: new Map(), production: new Map() },
      byNobody: { labels, byOutcome: new Map() },
    };
    operations.set(operation, added);
    return added;
  };

  return {
    requestAnswered: (operation = NO_OPERATION, caller, outcome, seconds) => {
      const ofOperation = operations.get(operation) ?? addOperation(operation);
      const ofCaller = caller === undefined ? ofOperation.byNobody : countsOf(ofOperation, caller);
      const count = ofCaller.byOutcome.get(outcome) ?? addCount(counts, ofCaller, outcome);
      count.value += 1;
      // Who was turned away at the door was quick: many of them would hide how slow the others are.
      if (caller !== undefined || OURS.includes(outcome)) ofOperation.durations?.record(seconds);
    },
    collect: () => [
      {
        name: "topupd_requests_total",
        type: "counter",
        description:
          "Requests to operations, and requests that failed because they were to none, by what came of them.",
        samples: counts.map(({ labels, value }) => ({ labels, value })),
      },
      durations.collect(),
    ],
  };
}

function countsOf({ byPartner, byNobody }: OperationCounts, caller: Caller): CallerCounts {
  const { partnerId, partnerName, environment } = caller;
  const partners = byPartner[environment];
  const known = partners.get(partnerId);
  if (known !== undefined) return known;
  const added = { labels: { ...byNobody.labels, partner: partnerName, environment }, byOutcome: new Map() };
  partners.set(partnerId, added);
  return added;
}

function addCount(counts: Count[], { labels, byOutcome }: CallerCounts, outcome: string): Count {
  const count = { value: 0, labels: { ...labels, outcome } };
  counts.push(count);
  byOutcome.set(outcome, count);
  return count;
}
