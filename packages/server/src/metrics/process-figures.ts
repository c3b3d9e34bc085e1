import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { type Family, type Labels, single } from "./exposition.ts";

/** Number of files and sockets that a process has open, and its limit. */
interface OpenFiles {
  readonly open: number;
  readonly most: number;
}

/** Measurements of the process. */
export interface ProcessFigures {
  /** Unix time. */
  readonly startedAtSeconds: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  /** Undefined if the system does not report it. */
  readonly openFiles: OpenFiles | undefined;
  /** Delay of the event loop since the previous reading. */
  readonly delay: { readonly p50Seconds: number; readonly p99Seconds: number; readonly maxSeconds: number };
}

/**
 * Metrics of the process. Names with `process_` follow Prometheus's conventions, so that common dashboards find them.
 */
export function describeProcess(figures: ProcessFigures, build: Labels | undefined): Family[] {
  const { startedAtSeconds, cpuSeconds, residentBytes, heapUsedBytes, openFiles, delay } = figures;
  return [
    single("gauge", "process_start_time_seconds", "Start of the process, in Unix time.", startedAtSeconds),
    single("counter", "process_cpu_seconds_total", "CPU time of the process, user and system.", cpuSeconds),
    single("gauge", "process_resident_memory_bytes", "Resident memory of the process.", residentBytes),
    ...(openFiles === undefined
      ? []
      : [
          single("gauge", "process_open_fds", "Open files and sockets.", openFiles.open),
          single("gauge", "process_max_fds", "Limit of open files and sockets.", openFiles.most),
        ]),
    single("gauge", "topupd_heap_used_bytes", "Memory of JavaScript objects.", heapUsedBytes),
    {
      name: "topupd_event_loop_delay_seconds",
      type: "gauge",
      description: "Delay of the event loop since the previous scrape.",
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
    description: "Always 1; the labels describe the build.",
    samples: [{ labels: build, value: 1 }],
  };
}

/** Interval between measurements of the event loop. */
const DELAY_RESOLUTION_MS = 10;

/** @returns reads the measurements. Its timer does not keep the process alive. */
export function watchProcess(): () => ProcessFigures {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  // The recorded value includes the timer's own interval.
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
 * Open files and sockets of this process, and their limit, from Linux's /proc.
 * @returns undefined on other systems, or without a limit.
 */
export function countOpenFiles(folder = "/proc/self"): OpenFiles | undefined {
  try {
    // Reading the folder opens it too.
    const open = readdirSync(join(folder, "fd")).length - 1;
    const most = Number(/^Max open files +(\d+) /m.exec(readFileSync(join(folder, "limits"), "utf8"))?.[1]);
    return Number.isNaN(most) ? undefined : { open, most };
  } catch {
    return undefined;
  }
}
