import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { OpenFiles, ProcessFigures } from "../metrics/process-figures.ts";

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
