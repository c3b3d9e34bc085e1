import { type Family, type Labels, single } from "./exposition.ts";

/** How many files and sockets a process has open, and may have. */
export interface OpenFiles {
  readonly open: number;
  readonly most: number;
}

/** What there is to know of the process at one moment. */
export interface ProcessFigures {
  /** Unix time. */
  readonly startedAtSeconds: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  /** Undefined where the system does not tell. */
  readonly openFiles: OpenFiles | undefined;
  /** Of the event loop, since the figures were read before. */
  readonly delay: { readonly p50Seconds: number; readonly p99Seconds: number; readonly maxSeconds: number };
}

/** Names that begin with `process_` are the ones that Prometheus recommends to every program, so that common dashboards know them. */
export function describeProcess(figures: ProcessFigures, build: Labels): Family[] {
  const { startedAtSeconds, cpuSeconds, residentBytes, heapUsedBytes, openFiles, delay } = figures;
  return [
    single("gauge", "process_start_time_seconds", "When the process was started, in Unix time.", startedAtSeconds),
    single("counter", "process_cpu_seconds_total", "CPU time of the process and of the system for it.", cpuSeconds),
    single("gauge", "process_resident_memory_bytes", "Memory that the process holds.", residentBytes),
    ...(openFiles === undefined
      ? []
      : [
          single("gauge", "process_open_fds", "Files and sockets that the process has open.", openFiles.open),
          single("gauge", "process_max_fds", "How many files and sockets it may have open.", openFiles.most),
        ]),
    single("gauge", "topupd_heap_used_bytes", "Memory that JavaScript objects take.", heapUsedBytes),
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
      type: "gauge",
      description: "1, with what is running in the labels.",
      samples: [{ labels: build, value: 1 }],
    },
  ];
}
