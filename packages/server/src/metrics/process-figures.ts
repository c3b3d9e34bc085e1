import type { Meter, ObservableResult } from "@opentelemetry/api";

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
export function measureProcess(
  meter: Meter,
  read: () => ProcessFigures,
  build: Readonly<Record<string, string>>,
): void {
  const start = meter.createObservableGauge("process_start_time_seconds", {
    description: "When the process was started, in Unix time.",
  });
  const cpu = meter.createObservableCounter("process_cpu_seconds_total", {
    description: "CPU time that the process has used, its own and the system's for it.",
  });
  const resident = meter.createObservableGauge("process_resident_memory_bytes", {
    description: "Memory that the process holds.",
  });
  const heap = meter.createObservableGauge("topupd_heap_used_bytes", {
    description: "Memory that JavaScript objects take.",
  });
  const delay = meter.createObservableGauge("topupd_event_loop_delay_seconds", {
    description: "How much later than asked for the event loop came round, since the scrape before.",
  });
  // All at once: reading begins the delay's next span.
  meter.addBatchObservableCallback(
    (result) => {
      const figures = read();
      result.observe(start, figures.startedAtSeconds);
      result.observe(cpu, figures.cpuSeconds);
      result.observe(resident, figures.residentBytes);
      result.observe(heap, figures.heapUsedBytes);
      result.observe(delay, figures.delay.p50Seconds, { statistic: "p50" });
      result.observe(delay, figures.delay.p99Seconds, { statistic: "p99" });
      result.observe(delay, figures.delay.maxSeconds, { statistic: "max" });
    },
    [start, cpu, resident, heap, delay],
  );
  meter
    .createObservableGauge("topupd_build_info", { description: "1, with what is running in the labels." })
    .addCallback((result: ObservableResult) => result.observe(1, build));
}
