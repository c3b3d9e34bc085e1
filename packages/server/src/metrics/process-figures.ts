import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Family, type Labels, single } from "./exposition.ts";

/** How many files and sockets a process has open, and may have. */
interface OpenFiles {
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
export function describeProcess(figures: ProcessFigures, build: Labels | undefined): Family[] {
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
    ...(build === undefined ? [] : [describeBuild(build)]),
  ];
}

function describeBuild(build: Labels): Family {
  return {
    name: "topupd_build_info",
    type: "gauge",
    description: "1, with what is running in the labels.",
    samples: [{ labels: build, value: 1 }],
  };
}

/** How often the event loop is looked at for metrics. */
const DELAY_RESOLUTION_MS = 10;

/** @returns what reads the figures. The timer that is behind the delay does not keep the process going. */
export function watchProcess(): () => ProcessFigures {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  // What is recorded is when the timer came, and it is meant to come after its resolution.
  const late = (ns: number) => Math.max(0, ns / 1e9 - DELAY_RESOLUTION_MS / 1000);
  return () => {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const [p50Seconds, p99Seconds] = [late(delay.percentile(50)), late(delay.percentile(99))];
    const maxSeconds = late(delay.max);
    delay.reset();
    return {
      startedAtSeconds: performance.timeOrigin / 1000,
      cpuSeconds: (user + system) / 1e6,
      residentBytes: rss,
      heapUsedBytes: heapUsed,
      openFiles: countOpenFiles(),
      delay: { p50Seconds, p99Seconds, maxSeconds },
    };
  };
}

/**
 * How many files and sockets this process has open, and may have, as Linux tells.
 * @returns undefined where there is no such system, it does not say, or there is no limit.
 */
export function countOpenFiles(folder = "/proc/self"): OpenFiles | undefined {
  try {
    // The folder itself is open while it is read.
    const open = readdirSync(join(folder, "fd")).length - 1;
    const most = Number(/^Max open files +(\d+) /m.exec(readFileSync(join(folder, "limits"), "utf8"))?.[1]);
    return Number.isNaN(most) ? undefined : { open, most };
  } catch {
    return undefined;
  }
}
