import type { Family, Labels } from "./exposition.ts";

/** What there is to know of the process at one moment. */
export interface ProcessFigures {
  /** Unix time. */
  readonly startedAtSeconds: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  /** Of the event loop, since the figures were read before. */
  readonly delay: { readonly p50Seconds: number; readonly p99Seconds: number; readonly maxSeconds: number };
}

/** Three names are the ones that Prometheus recommends to every program, so that common dashboards know them. */
export function describeProcess(
  { startedAtSeconds, cpuSeconds, residentBytes, heapUsedBytes, delay }: ProcessFigures,
  build: Labels,
): Family[] {
  return [
    {
      name: "process_start_time_seconds",
      type: "gauge",
      description: "When the process was started, in Unix time.",
      samples: [{ labels: {}, value: startedAtSeconds }],
    },
    {
      name: "process_cpu_seconds_total",
      type: "counter",
      description: "CPU time that the process has used, its own and the system's for it.",
      samples: [{ labels: {}, value: cpuSeconds }],
    },
    {
      name: "process_resident_memory_bytes",
      type: "gauge",
      description: "Memory that the process holds.",
      samples: [{ labels: {}, value: residentBytes }],
    },
    {
      name: "topupd_heap_used_bytes",
      type: "gauge",
      description: "Memory that JavaScript objects take.",
      samples: [{ labels: {}, value: heapUsedBytes }],
    },
    {
      name: "topupd_event_loop_delay_seconds",
      type: "gauge",
      description: "How much later than asked for the event loop came round, since the scrape before.",
      samples: [
        { labels: { statistic: "p50" }, value: delay.p50Seconds },
        { labels: { statistic: "p99" }, value: delay.p99Seconds },
        { labels: { statistic: "max" }, value: delay.maxSeconds },
      ],
    },
    {
      name: "topupd_build_info",
      type: "info",
      description: "1, with what is running in the labels.",
      samples: [{ labels: build, value: 1 }],
    },
  ];
}
