import { readdirSync, readFileSync } from "node:fs";

/*
 * Figures of processes, from Linux. On other systems they are undefined, and the columns stay empty.
 */

/** Ticks a second of Linux, on every architecture. */
const TICKS_PER_SECOND = 100;

/** CPU time so far, in ms, of a process and of all that it has begun, those that have ended included. */
export function cpuMsOfFamily(root: number): number | undefined {
  const stat = statOf(root);
  if (stat === undefined) return undefined;
  return childrenOf(root).reduce((sum, child) => sum + (cpuMsOfFamily(child) ?? 0), stat.ownMs + stat.endedMs);
}

function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)?.parent === parent);
}

/** The memory of a process and of all that it has begun, in MiB: what several share is divided among them. */
export function memoryMiBOfFamily(root: number): number | undefined {
  const [, kiB] = /^Pss: +(\d+)/m.exec(read(root, "smaps_rollup") ?? "") ?? [];
  if (kiB === undefined) return undefined;
  return childrenOf(root).reduce((sum, child) => sum + (memoryMiBOfFamily(child) ?? 0), Number(kiB) / 1024);
}

interface Stat {
  readonly parent: number;
  readonly ownMs: number;
  /** CPU time of its ended children. */
  readonly endedMs: number;
}

function statOf(pid: number): Stat | undefined {
  const text = read(pid, "stat");
  if (text === undefined) return undefined;
  // The name, which may hold anything, is in brackets. After it comes the state.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ms = (index: number) => (Number(fields[index]) * 1000) / TICKS_PER_SECOND;
  return { parent: Number(fields[1]), ownMs: ms(11) + ms(12), endedMs: ms(13) + ms(14) };
}

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
